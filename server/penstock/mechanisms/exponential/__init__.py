"""Draw exponential noise and compute its privacy.

* ``process``  exponential noise on the lattice: a process that only rises, by rare jumps
* ``law``      the geometric law: how it splits
"""
