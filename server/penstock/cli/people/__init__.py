"""Run the commands on tiers, users, tokens, and proposals that need two people.

* ``tiers, users, tokens, proposals``  the commands ``tier``, ``user``, ``token``, ``proposal``
"""
