"""Let analysts register queries by themselves, within an allowance of their tier.

* ``open_allowances``     the newest allowance of a tier, what is left of it, and what takes from it
* ``floors``              the tier of a query's maker, below which nobody ever sees it
* ``own_names``           names and statistics that say nothing of what is out of sight
* ``own_levels``          a level at one's own tier alone, and what the tiers above pay for it
* ``logged_allowances``   the leaves of allowances, and the tables compared with them
"""
