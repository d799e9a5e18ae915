"""Factor a public matrix around one vector of noise.

* ``matrices``    the factorization mechanism, for any pair of matrices
* ``square_root``: the factorization of running sums with the least error
* ``correlated``  many counts over one population, and its size for free
* ``honaker``     a baseline that trees are measured against
"""
