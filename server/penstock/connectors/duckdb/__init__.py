"""Run SQL on the one registered file, in DuckDB locked down.

* ``source``         the connection: it reads that file and nothing else on this machine
* ``source_file``    the file: where it is, its header, its fingerprint
* ``sql``            the one template of the SQL, and how a plan fills it in
* ``cells``          what a cell of a declared column can be, and how its value is spelled
* ``parquet_cells``  cells of Parquet files that the engine refuses to read
* ``conformance``    whether an engine computes what the template means
"""
