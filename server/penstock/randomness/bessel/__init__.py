"""Draw from and compute laws that are Bessel functions.

* ``functions``  the smaller of two Poisson integers, given their difference
* ``law``        logarithms of Skellam probabilities, exact to 1e-13
"""
