"""Keep tiers, users and their tokens.

* ``tiers``         named, ranked clearance levels
* ``users``         roles and clearance
* ``tokens``        issued once, expiring, revocable at once
* ``token_lineage``: which token was made with which, and ends with it
"""
