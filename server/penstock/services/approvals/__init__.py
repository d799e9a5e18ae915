"""Carry out actions that take two people: one admin proposes, another approves.

* ``proposals``         makes, approves and withdraws proposals; carries out each once
* ``actions``           the actions that can be proposed
* ``logged_proposals``  the leaves of proposals, and the tables compared with them
"""
