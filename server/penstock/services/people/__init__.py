"""Manage tiers, users and their tokens.

* ``tiers, tier_changes``  the ranked clearance levels: listed; created, moved and deleted
* ``users``         roles and clearance
* ``user_lists``    users of a list, created together
* ``clearances``    the versions of clearances, and who set them
* ``tokens``        issued once, expiring, revocable at once
* ``token_lineage``: tokens created with other tokens, which end with them
* ``logged_tiers, logged_users, logged_tokens``: the leaves of each, and the tables compared with
  them
"""
