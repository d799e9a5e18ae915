"""Turn a spec into reviewed SQL, and that into an exact integer vector with its sensitivity.

* ``specs``     strict models of datasets and queries, shapes only
* ``planning``  what a spec means on its dataset, known before any data are read
* ``duckdb``    the one template of the SQL, and the engine, locked down to one file
* ``vector``    vectors that are pushed
* ``connections``  credentials, by the names that the operator gives them
* ``reachable``  whether a connection leads to an engine
* ``dummy``     made-up rows of a declared schema
* ``progress``  reports of how far the reading of data is
"""
