"""Do what takes two people: one admin proposes, another approves.

* ``proposals``: proposed, approved, done once
* ``actions``   the acts that can be proposed
* ``logged_proposals``: the leaves of proposals, and the tables held to them
"""
