"""Describe requests: queries that analysts want registered, and what admins decide about them.

* ``specs``  what is sent
* ``views``  what is answered
"""
