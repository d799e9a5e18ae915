"""Count together in all workers of one server.

* ``shared_memory``      the memory that they have in common
* ``counters``           all that lies in it: ``Counters``
* ``rate_limits``        how often somebody may ask, and how much of a processor that may take
* ``computation_turns``  whose long computation is under way
* ``request_counts``     requests and computations, for the metrics
* ``refusal_counts``     refused requests, until the log tells of them
"""
