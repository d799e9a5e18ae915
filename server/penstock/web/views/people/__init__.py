"""Let admins keep tiers, users and clearance.

* ``tiers``             tiers as a ladder with the people on it
* ``users, clearance``  users with their roles and tokens, and moving somebody up or down
* ``proposals``         acts that take two people
"""
