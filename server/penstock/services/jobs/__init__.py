"""Run long work in background jobs, once.

* ``jobs``           one row per job, which people may leave and return to
* ``runner``         one thread per job, and one heartbeat thread
* ``queue``          jobs for workers, and those of dead workers
* ``worker``         a process that runs jobs from the queue
* ``registrations``  requests that a worker does while their caller waits
* ``long_draws``     releases of long vectors that a worker draws while their caller waits
* ``idempotency``    a request that is sent twice is done once
"""
