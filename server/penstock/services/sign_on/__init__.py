"""Sign people in through the provider, and give them what their groups are mapped to; invite them.

* ``mappings``          what admins give to the members of a group
* ``logged_mappings``   the leaves of mappings and accounts, compared with their tables
* ``rights``            the tier and roles of a set of groups, below what admins set
* ``accounts``          the user of an account, created or brought up to date
* ``flow``              the two steps of a sign-in
* ``log_outs``          sessions that end when the provider says so
* ``invitations``       links that make a user once: made, listed, revoked
* ``logged_invitations``  the leaves of invitations, compared with their table
* ``acceptance``        the user and token that an invitation makes
"""
