"""Read datasets in buckets and on web servers, for an engine that opens nothing itself.

* ``address``      where a dataset is, as its spec says it
* ``access``       what a connection allows, and its credentials
* ``selection``    the objects of a pattern or of a manifest
* ``lake``         a dataset's objects: their fingerprint, and their rows
* ``footers``      names and types of columns, without any cell
* ``relation``     the rows, as a stream of Arrow batches
* ``arrow_cells``  cells as the engine reads them from a local file
* ``failures``     why a store did not answer, without what it wrote
* ``check``        whether a connection leads to its buckets
* ``stores``       buckets and web servers
* ``tables``       the files of tables, at one version
"""
