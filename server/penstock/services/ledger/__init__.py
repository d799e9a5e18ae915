"""Charge tiers, exactly once, and refuse what does not fit.

* ``accounts``             budgets by tier, charges, and the refusal of what does not fit
* ``tier_budgets``         a tier's budget: its own or that of the next lower tier
* ``effective_levels``     the most accurate level each tier could ever be given, which it pays
                           for
* ``allowed_levels``       the level each tier is allowed from a version on
* ``version_chains``       versions of a dataset, and those that one privacy unit may be in
* ``quotes``               the requested kind of a query, and the charge of each tier
* ``charges``              a query's row and all of its charges, in one transaction
* ``room_left``            the share of an account that a charge takes, as callers see it
* ``repricing``            reprices queries when a budget becomes larger than it ever was
* ``undercharged``         accounts that older versions charged too little
* ``logged_budgets, logged_levels``: the leaves of both, and the tables compared with them
"""
