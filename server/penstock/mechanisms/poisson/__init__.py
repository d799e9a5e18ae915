"""Draw Poisson noise and compute its privacy.

* ``process``     Poisson noise: a process of integer jumps upwards
* ``curve``       epsilon at a delta, exact and in closed form
* ``divergence``  Rényi divergences of shifted Poisson noise
* ``tails``       tail probabilities, by summing
* ``refinement``  what a more accurate release reveals beyond a known noisier one
"""
