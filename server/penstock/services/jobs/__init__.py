"""Run long work in background jobs, once.

* ``jobs``        one row per job, which people may leave and return to
* ``runner``      one thread per job, and one heartbeat thread
* ``idempotency``: a request that is sent twice is done once
"""
