"""Keep everything in PostgreSQL.

* ``connections``  connections through psycopg, in READ COMMITTED
* ``roles``        who may do what: the server's role adds to history, and cannot change it
* ``failures``     what PostgreSQL's errors mean, and which may be met by asking again
* ``breaker``      whether the server answers at all, for all connections of a process
"""
