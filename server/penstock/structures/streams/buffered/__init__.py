"""Release running sums by buffered linear Toeplitz noise: few numbers kept, for any length.

* ``encoder``          the matrix ``R``: its buffers for a length, and the norms of its columns
* ``fixed_point``      buffers in two integers each, and their recursion
* ``noise``            the noise at every tier, step by step
* ``joining``          the covariance of the buffers, and what a tier that joins has in its own
* ``sensitivity``      what one unit moves, with the roundings of the recursion
* ``state``            the noise as bytes
* ``errors``           the variance of outputs
"""
