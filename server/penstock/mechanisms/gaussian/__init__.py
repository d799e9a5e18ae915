"""Draw Gaussian noise and compute its privacy.

* ``process``  Gaussian noise on the lattice: Brownian motion in the variance
* ``curve``    the privacy curve of one normal release
"""
