"""Record the state of the log outside of the database, so that an older database is detected.

* ``file_witness``  the witness in a file, which several processes share
* ``bucket_witness``  the witness in a bucket with object lock, which several hosts share
* ``bucket``        the objects of that bucket: names, contents, locks
* ``slots``         the layout of that file: two records, written in turn
"""

from penstock.transparency_log.witness.file_witness import FILE, FileWitness, Witness

__all__ = ["FILE", "FileWitness", "Witness"]
