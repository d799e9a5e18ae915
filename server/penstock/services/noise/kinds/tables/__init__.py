"""Represent queries for several tables of counts that are protected together.

* ``marginals``  marginals of sets of columns, which agree with each other
* ``workload``   answers to products of matrices over columns, from sums that are protected
* ``noise``      which noise they take
"""
