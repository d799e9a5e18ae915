"""Do long work behind the answers, once.

* ``jobs``        one row for one press, left and come back to
* ``runner``      one thread a job, and one that says that it is alive
* ``idempotency``: a request that is sent again is not done again
"""
