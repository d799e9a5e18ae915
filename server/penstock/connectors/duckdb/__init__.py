"""Run SQL on the one registered file, in DuckDB locked down.

* ``connector``      reads registered files
* ``source``         the connection: it reads that file and nothing else on this machine
* ``source_file``    the file: where it is, its header, its fingerprint
* ``dialect``        how statements are written for it
* ``parquet_cells``  cells of Parquet files that the engine refuses to read
* ``conformance``    whether the engine computes what the template means
"""
