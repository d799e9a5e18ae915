"""Search, filter and sort what a caller may see.

* ``choices``  what may be chosen, and what an address may say
* ``listing``  the chosen part of the queries in sight, with a count and marks

Only what its reader is shown of a query is searched, so that no search tells of tiers above.
"""
