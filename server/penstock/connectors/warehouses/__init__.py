"""Read views of Trino, and tables of BigQuery and Snowflake, each by its own driver.

* ``dialects``      what a statement says in each of these engines
* ``surroundings``  the relations around a statement: the typed columns, the keys, the probe's rows
* ``warehouse``     the connector of them all: columns, conformance, version, answer
* ``session``       what a driver has to offer to it
* ``address``       the parts of a connection's address
* ``trino``, ``bigquery``, ``snowflake``  the sessions
"""
