"""Represent queries for several tables of counts that are protected together.

* ``marginals``  marginals of sets of columns, which agree with each other
"""
