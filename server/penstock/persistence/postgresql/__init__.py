"""Store everything in PostgreSQL.

* ``connections``  connections through psycopg, in READ COMMITTED
* ``roles``        privileges: the server's role adds to history, and cannot change it
* ``failures``     what PostgreSQL's errors mean, and which of them a retry may solve
* ``breaker``      whether the server responds at all, for all connections of a process
"""
