"""Read which files a table has at one version.

* ``delta``          tables of Delta Lake, by their log
* ``iceberg``        tables of Iceberg, by their metadata file
* ``iceberg_files``  a store as pyiceberg opens files
"""
