"""State how far the values of a release may be from the exact ones.

* ``interval``      computes confidence intervals at any confidence
* ``linear``        computes the noise of weighted sums of values
* ``covariance``    reads the covariance of values that share noise
* ``series``        computes the noise of differences of totals that all noises so far are in
* ``elements``      computes the noise of a stream's elements, by either of series and ways
* ``value_errors``  reads error bars that differ from value to value
* ``estimates``     reads what is estimated for moments and regressions
* ``marginals``     reads the tables of marginals, raw and in reported forms
* ``histogram``     reads the threshold of a sparse histogram, and which keys it releases
* ``wording``       reads titles and other texts for readers
* ``ways``          finds which noises two running totals share
"""
