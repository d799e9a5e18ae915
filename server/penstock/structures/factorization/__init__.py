"""Factor a public matrix around one vector of noise.

* ``matrices``     the factorization mechanism, for any pair of matrices
* ``square_root``  the square-root factorization of running sums, of nearly the least error
"""
