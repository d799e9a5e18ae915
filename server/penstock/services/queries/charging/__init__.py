"""Make the row of a query that is registered, and charge what analysts register by themselves.

* ``rows``         the row of a new query, and the room that it takes
* ``own_queries``  a query under an allowance, charged to that and to every tier that sees it
"""
