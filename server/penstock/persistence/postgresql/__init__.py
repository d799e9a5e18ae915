"""Store everything in PostgreSQL.

* ``connections``  connections through psycopg, in READ COMMITTED
* ``driver``       connections and cursors that wait no longer than is sensible
* ``durability``   what a server must be set to, and which server it is
* ``roles``        privileges: the server's role adds to history, and cannot change it
* ``job_queue``    the queue of jobs, in a schema of its own
* ``failures``     what PostgreSQL's errors mean, and which of them a retry may solve
* ``breaker``      whether the server responds at all, for all connections of a process
"""
