"""Run SQL on the one registered file, or on rows that are handed over, in DuckDB locked down.

* ``connector``      reads registered files
* ``source``         the connection: it reads that file and nothing else on this machine
* ``lakes``          reads registered objects of buckets
* ``streamed``       statements on rows that are handed over: the engine opens nothing
* ``source_file``    the file: where it is, its header, its fingerprint
* ``dialect``        how statements are written for it
* ``parquet_cells``  cells of Parquet files that the engine refuses to read
* ``parquet_decimals`` decimals of Parquet files, by how they are stored
* ``conformance``    whether the engine computes what the template means
"""
