"""Define the tables of what some people want and others decide.

* ``proposals``  actions that take two people, and the decisions on them
* ``requests``   queries that analysts request, and the decisions on them
* ``deliveries``  messages that wait for the webhook, and how far the log was read for them
"""
