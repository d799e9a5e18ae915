"""Run the commands on tiers, users, tokens, groups, and proposals that need two people.

* ``tiers, users, tokens, groups, proposals``  the commands ``tier``, ``user``, ``token``, ``group``
  and ``proposal``
* ``invitations``  what ``user`` does with invitations, beside ``users``
"""
