"""Take queries in SQL, and show queries in SQL.

* ``statements``  what a caller sends, as a spec of the dataset that they may see
* ``written``     the statement of a query
* ``own_questions``  the queries that somebody registered
"""
