"""Draw generalized Gaussian noise, and correct it by the sparse vector technique.

* ``mechanism``                 many counts at once with a small largest error; no path between
                                levels
* ``law``                       the density, its errors, and its Rényi divergence
* ``tails``                     chances of outcomes below a value and between values
* ``loss_distribution``         the privacy loss over many shifted values, exactly
* ``sparse_vector``             the few of many numbers that are above a threshold
* ``sparse_vector_correction``  counts of which the worst few are found and answered again
* ``sparse_vector_error``       the expected largest error of such counts
"""
