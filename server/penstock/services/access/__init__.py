"""Authenticate callers, and decide what they may do.

* ``principals``            users with a token, and the operator: ``authenticate``, ``OPERATOR``
* ``presumptions``          callers by their last request, until a statement confirms them
* ``token_format, peppers``: the format of a token, and the keys of its digest
* ``sessions``              sessions of the web pages
* ``used_once``             what is accepted once, such as a sign-in's state
* ``two_person_rule``       actions that one admin proposes and another approves
* ``admin_actions``         the leaves of admins' actions, with what they had read
"""
