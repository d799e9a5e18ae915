"""Let admins manage tiers, users, clearance, and decide what was proposed or requested.

* ``tiers``              tiers and their holders as a ladder
* ``users, clearance``   users with their roles and tokens, and changes of clearance
* ``new_users``          the users of a pasted CSV file, together
* ``groups``             what groups of the OpenID provider give
* ``invitations``        links by which people become users
* ``proposals``          actions that need two admins
* ``requests``           requests of analysts for queries, with comments
* ``request_decisions``  requests approved, which registers their queries, or declined
"""
