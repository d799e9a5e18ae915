"""Draw samples from cryptographic bits, exactly or within a stated error.

* ``stream``     a ChaCha20 stream under numpy's samplers, one for every release
* ``pieces``     long vectors, a stream for each piece, on several threads
* ``normal``     normal noise rounded onto the lattice, in chunks
* ``bernoulli``, ``geometric``, ``binomial``, ``poisson``  samplers of integer laws
* ``bessel``     Skellam noise: one of two Poisson integers, given their difference
* ``generalized_gaussian``  the density ``exp(-|z|^p)``, rounded onto the lattice
* ``rejection``  rejection sampling whose error is accounted for
* ``inversion``, ``choice``, ``saddle_point``  parts that several samplers share
"""

from penstock.randomness.stream import Stream

__all__ = ["Stream"]
