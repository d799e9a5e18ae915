"""Describe how datasets, queries and streams are presented to readers.

* ``wordings``  titles, descriptions, units, tags, key labels and owners, as sent and as answered
"""
