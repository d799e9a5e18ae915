"""Take files of data that admins upload into the data folder.

* ``uploads``    the use case: a name, bytes, a leaf, and a file that nothing is registered from yet
* ``incoming``   a file while its bytes arrive: whole under its name, or not there at all
"""
