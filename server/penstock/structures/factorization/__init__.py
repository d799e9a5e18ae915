"""Factor a public matrix around one vector of noise.

* ``matrices``     the factorization mechanism, for any pair of matrices
* ``rows``         whole-number matrices over the keys of one column, by name or given
* ``span``         decides exactly whether a matrix is a combination of another's rows
* ``kronecker``    products of such matrices over several columns, without the product
* ``square_root``  the square-root factorization of running sums, of nearly the least error
"""
