"""Let admins manage tiers, users and clearance.

* ``tiers``             tiers and their holders as a ladder
* ``users, clearance``  users with their roles and tokens, and changes of clearance
* ``proposals``         actions that need two admins
"""
