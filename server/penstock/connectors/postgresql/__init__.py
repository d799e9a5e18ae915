"""Read a view in PostgreSQL, in one read-only transaction.

* ``connector``    reads registered views
* ``session``      the connection, and what is said of its failures
* ``views``        a view's columns with their types, and what it is recognized by
* ``states``       runs a statement, and names the state of the rows that it read
* ``relations``    what surrounds a statement: typed columns and tables of keys
* ``dialect``      how statements are written for it
* ``conformance``  whether a server computes what the template means
"""
