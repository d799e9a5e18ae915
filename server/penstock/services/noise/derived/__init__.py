"""Compute quantities from released values alone, each with its interval.

Nothing is drawn or charged: it is post-processing.  The client computes the same, by itself.

* ``answers``     the answers of a workload as values, which share noise
* ``covariance``  the covariance of weighted sums of a release's values
* ``quantities``  totals, differences, shares and ratios, and several releases of one quantity
* ``elements``    the elements of a stream, from its running totals
"""
