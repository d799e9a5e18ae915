"""Charge tiers in exact integers, and refuse what does not fit.

* ``budget``           (epsilon, delta) as a Rényi budget at one frozen order
* ``gaussian_budget``  (epsilon, delta) as a sum of squared mu, for Gaussian releases alone
* ``charges``          what one query costs one tier, its sampler's error included
* ``per_unit``         what a stream costs a privacy unit that is in several of its steps
* ``raising``          what it costs to let a tier see a query more accurately
* ``ledger``           exact sums, and the refusal with its numbers
"""
