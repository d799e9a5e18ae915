"""Run the commands on the server's home and its service.

* ``home``                       ``penstock init``, ``status``, ``config`` and ``db``
* ``serving, launch``            ``penstock serve``: checks the home, then becomes gunicorn
* ``working``                    ``penstock work``: runs jobs from the queue
* ``keys, backup, audit, metrics, webhook, demo, completion``  the commands of these names
"""
