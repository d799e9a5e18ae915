"""Count across all workers of one server.

* ``shared_memory``      the memory that the workers share
* ``counters``           all tables in that memory: ``Counters``
* ``rate_limits``        limits on requests and on processor time
* ``computation_turns``  the users whose long computation is running
* ``request_counts``     requests, computations and refusals, for the metrics
* ``refusal_counts``     refused requests, until they are recorded in the log
"""
