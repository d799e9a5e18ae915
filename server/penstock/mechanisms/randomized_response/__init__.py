"""Answer one of ``k`` categories at random, at any levels in any order.

* ``process``    randomized response as noise on the integers modulo ``k``, and a path of it
* ``law``        how the noise splits, and what an answer costs
* ``estimates``  how many gave each answer, with intervals
"""
