"""Show the forms of what people write about datasets, queries and streams.

* ``texts``  titles, descriptions, units, tags, key labels and owners, changed by admins
"""
