"""Represent a query by its kind: what is drawn, opened, shown and charged of it.

* ``kind``              what every kind answers
* ``choice``            the kind of a stored query, and of a request
* ``vector``            a vector of values, one draw each
* ``mean``              means, read from pairs of a sum and a count
* ``correlated_counts`` counts that are protected together
* ``sparse_histogram``  counts over keys that nobody can list
* ``stream``            running totals of a stream
* ``stream_shape``      a stream's tree or square root, as it is stored
* ``stream_errors``     the margin of error of running totals, step by step
"""
