"""Find the noise level, power or layout that meets a target.

* ``levels``       from an epsilon, a width or a share of a budget to a level or a rung
* ``guesses``      where a search for a level begins
* ``powers``       the power of generalized Gaussian noise with the smallest largest error
* ``corrections``  the best layout of a sparse vector correction, and whether it gains anything
* ``search``       the noisiest level that is good enough
"""
