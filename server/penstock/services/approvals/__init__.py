"""Do what takes two people: one admin proposes, another approves.

* ``proposals``: proposals: made, approved, done once
* ``actions``   the actions that can be proposed
* ``logged_proposals``: the leaves of proposals, and the tables compared with them
"""
