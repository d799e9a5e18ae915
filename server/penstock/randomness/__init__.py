"""Draw exact samples from cryptographic bits, and nothing else.

* ``stream``     a ChaCha20 stream under numpy's samplers, one for every release
* ``normal``     normal noise rounded onto the lattice, in chunks
* ``bernoulli``, ``geometric``, ``binomial``, ``poisson``  exact samplers of integer laws
* ``bessel``     Skellam noise: one of two Poisson integers, given their difference
* ``generalized_gaussian``  the density ``exp(-|z|^p)``, rounded onto the lattice
* ``rejection``  rejection sampling whose error is accounted for
* ``inversion``, ``choice``, ``saddle_point``  what several samplers are made of
"""

from penstock.randomness.stream import Stream

__all__ = ["Stream"]
