"""Draw how budgets were spent.

* ``burn_down``  what was left of each tier's budget over time
"""
