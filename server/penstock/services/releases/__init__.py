"""Release queries at a reader's clearance, once for each level.

* ``releases``        the release transaction
* ``visibility``      which queries and streams a reader sees
* ``grants``          what somebody was handed, and the leaf that says so
* ``history``         earlier releases: one's own with values, everybody's without
* ``quota``           how much one person may add in a day
* ``logged_queries``  the leaves of queries that end, and the table held to them
"""
