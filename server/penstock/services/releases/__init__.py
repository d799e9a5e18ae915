"""Release queries at a reader's clearance, once for each level.

* ``releases``          the release transaction
* ``allowed``           the level that a request gets
* ``known_queries``     what is read once for each edition of the database
* ``lookups``           what is read for each request, in one statement
* ``locked_state``      what a release depends on, read under the query's lock in one statement
* ``long_releases``     draws of long vectors before the lock
* ``stored_hand_outs``  the rows of a hand-out
* ``visibility``        the queries and streams that a reader sees
* ``grants``            releases handed to users, and their leaves
* ``history``           earlier releases: the caller's own with values, all without values
* ``quota``             the limit of what one user may add in a day
* ``logged_queries``    the leaves of queries that end, compared with their table
"""
