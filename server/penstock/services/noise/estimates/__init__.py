"""Estimate statistics from released sums of products, of bins or of cells, each with its interval.

* ``products``    the released numbers of one group, and an estimate with its gradient in them
* ``sums``        sums and means, from a count and sums alone
* ``moments``     sums, means, variances, covariances and correlations
* ``regression``  the coefficients of least squares
* ``quantiles``   quantiles and distribution functions, from sums over bins
* ``reading``     the estimates of all groups of a release
* ``expected``    how noisy the estimates of moments would be
* ``workloads``   the answers of workloads, from the sums of their strategies
* ``sized_counts``  counts of a declared size, with that of another release
* ``marginals``   the cells of marginals, and the forms in which they are reported
"""
