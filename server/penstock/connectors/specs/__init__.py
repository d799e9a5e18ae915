"""Declare datasets and queries: strict models of what is sent.

* ``models``                  the data half of what an admin registers
* ``correlated, histograms``  counts protected together, and counts over an open set of keys
* ``moments``                 moments of several columns, and regressions
* ``cells``                   what a cell can be, and how its value is spelled
* ``schema``                  whether the parts of a dataset's spec agree with each other
* ``sources``                 which fields a source has under each engine, and the extra for it
* ``typed_columns``           a view's columns, which have types, against the declared ones
* ``empty_fields``            what to enter in an empty field, with an example
* ``metadata``                metadata of SmartNoise SQL and lomas, as a spec
* ``draft, guess``            a first draft of a dataset's file and of its schema
"""
