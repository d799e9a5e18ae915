"""Tell what people know together.

* ``exposure``     what a set of users knows, and what it would have cost without tiers
* ``by_query``     query by query, what some people hold and what it comes to
* ``compositions``: what releases of one dataset, or of the same people, come to
* ``same_people``  datasets that an admin declared to hold the same people
"""
