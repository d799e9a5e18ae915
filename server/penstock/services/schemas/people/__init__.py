"""Describe tiers, users and tokens, as callers send them and as they are answered.

* ``roles``   the roles that users have and tokens carry
* ``tiers``   tiers, as they are sent
* ``users``   users, as they are sent
* ``user_files``  users, as a CSV file has them
* ``tokens``  tokens, as they are sent
* ``groups``  groups of a provider, as they are sent
* ``invitations``  invitations, as they are sent and answered
* ``views``   all of them, as they are answered

Building a model takes longer than reading a list: a command imports those that it needs.
"""
