"""Read a view with Apache Spark: in this process, on a cluster, or by Spark Connect.

* ``connector``    reads registered views
* ``session``      starts or reaches Spark; one session for each reading, with its settings
* ``connect``      reaches a server of Spark Connect, and leaves it
* ``hosts``        whether a cluster is there at all
* ``failures``     what is said of Spark's failures, in our own words
* ``views``        a view's columns with their types, and what it is recognized by
* ``relations``    what surrounds a statement: typed columns, tables of keys, the salt
* ``dialect``      how statements are written for it
* ``conformance``  whether a Spark computes what the template means
"""
