"""Factor a public matrix around one vector of noise.

* ``matrices``     the factorization mechanism, for any pair of matrices
* ``square_root``  the factorization of running sums with the least error
"""
