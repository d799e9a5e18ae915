"""Cryptographic bits and the exact samplers on them, and nothing else.

* ``stream``     a ChaCha20 stream under numpy's samplers, one for every release
* ``normal``     normal noise rounded onto the lattice, in chunks

The samplers of the integer families are modules of their own beside these two.
"""

from penstock.randomness.stream import Stream

__all__ = ["Stream"]
