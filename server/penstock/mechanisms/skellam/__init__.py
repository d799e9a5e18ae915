"""Draw Skellam noise and compute its privacy.

* ``process``     Skellam noise: integer jumps, upwards and downwards alike
* ``curve``       epsilon at a delta, exactly
* ``divergence``  Rényi divergences of shifted Skellam noise
* ``tails``       tail probabilities, by summing
"""
