"""Choose the chart of a result, and write its sentence: what pages and notebooks have in common.

* ``drawings``   a chart with its sentence and its table
* ``releases``   the values, the keys, or the distribution function of a query
* ``crossings``  the values of groups that two keys name
* ``totals``     the values of a stream's steps, and its running totals
"""
