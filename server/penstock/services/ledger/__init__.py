"""Charge tiers, exactly once, and refuse what does not fit.

* ``accounts``             budgets by tier, charges, and the refusal of what does not fit
* ``tier_budgets``         whose budget a tier has: its own or that of the next lower tier
* ``effective_levels``     the most accurate level each tier could ever be given, which it pays
                           for
* ``allowed_levels``       the level each tier is allowed from a version on
* ``version_chains``       versions of a dataset, and which of them one privacy unit may be in
* ``quotes``               what a query would be and what each tier would be charged
* ``charges``              a query's row and all of its charges, in one transaction
* ``room_left``            what a charge takes of an account, as callers see it
* ``repricing``            reprices queries where a budget becomes larger than it ever was
* ``undercharged``         what older versions charged too little
* ``logged_budgets, logged_levels``: the leaves of both, and the tables held to them
"""
