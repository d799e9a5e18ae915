"""State how far the values of a release may be from the exact ones.

* ``interval``      computes confidence intervals at any confidence
* ``value_errors``  reads error bars that differ from value to value
* ``estimates``     reads what is estimated for moments and regressions
* ``histogram``     reads the threshold of a sparse histogram, and which keys it releases
"""
