"""Generate the sentences that define queries, streams and datasets, from their specs.

* ``words``     columns, values and lists as words that no other spec has; nouns of privacy units
* ``phrases``   the parts of a spec: statistics, groups, conditions, derived columns
* ``definitions``  the sentence of each kind of query, and of a dataset

A sentence is no part of what identifies a statistic, and nothing is decided by it.
"""
