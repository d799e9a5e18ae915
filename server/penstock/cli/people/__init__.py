"""Commands on tiers, users, their tokens, and what takes two people.

* ``tiers, users, tokens, proposals``  the commands ``tier``, ``user``, ``token``, ``proposal``
"""
