"""Read objects of stores: listed, looked up, and by ranges of one version.

* ``objects``      what is read of a store, and what a dataset's objects are
* ``bucket``       buckets of S3, Google Cloud Storage and Azure
* ``web``          files of web servers
* ``object_file``  an object as a file that can be read at any position
"""
