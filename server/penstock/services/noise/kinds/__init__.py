"""Represent queries by their kinds: how each is drawn, opened, shown and charged.

* ``kind``              the interface of every kind
* ``choice``            the kind of a stored query, and of a request
* ``vector``            a vector of values, one draw each
* ``mean``              means, read from pairs of a sum and a count
* ``moments``           moments and regressions, read from sums of products
* ``quantiles``         quantiles, read from counts of bins
* ``tables``            marginals and workloads, read from sums that are protected together
* ``correlated_counts`` counts that are protected together
* ``sparse_histogram``  counts over keys that cannot be listed
* ``stream``            running totals of a stream
* ``stream_shape``      a stream's stored structure: a tree or the square root
* ``buffered_shape``    a stream's stored structure: buffers
* ``stream_errors``     the margin of error of running totals, step by step
"""
