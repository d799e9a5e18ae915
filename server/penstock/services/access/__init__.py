"""Decide who is acting and what that takes.

* ``principals``            a user with a token, or the operator: ``authenticate``, ``OPERATOR``
* ``token_format, peppers``: what a token looks like, and what it is digested under
* ``sessions``              sessions of the pages, begun with a token
* ``two_person_rule``       acts that one admin proposes and another approves
* ``admin_actions``         the leaves of what admins do, with what they had read
"""
