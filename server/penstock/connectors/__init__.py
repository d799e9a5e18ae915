"""Turn a spec into reviewed SQL, and that into an exact integer vector with its sensitivity.

* ``specs``        strict models of datasets and queries, shapes only
* ``formulas``     conditions that are joined, and columns that are computed
* ``planning``     what a spec means on its dataset, known before any data are read
* ``binned``       statistics that are read from counts of bins, and the edges of their bins
* ``sql``          SQL that people write, read as specs, and specs written as SQL
* ``statements``   the one template of the SQL, for any engine, and what its rows mean
* ``connector``    what an engine must offer
* ``choice``       the connector of a dataset
* ``connections``  credentials, by the names that the operator gives them
* ``reachable``    whether a connection leads to an engine
* ``sources``      where data may be read from, and with how much
* ``duckdb``       files, read by an engine that is locked down to one of them
* ``postgresql``   views, read in one read-only transaction
* ``spark``        views, read in this process, on a cluster, or by Spark Connect
* ``clickhouse``   views, read in this process or of a server
* ``warehouses``   Trino, BigQuery and Snowflake
* ``storage``      datasets in buckets: objects, their fingerprint, their rows
* ``vector``       vectors that are pushed
* ``dummy``        made-up rows of a declared schema; ``dummy_answers`` of a query over them
* ``progress``     reports of how far the reading of data is
"""
