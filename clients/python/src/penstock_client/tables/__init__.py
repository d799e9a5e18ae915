"""Write a question about a dataset in Python, in the manner of Ibis and Narwhals.

- ``table``: ``Table``, which is filtered, grouped and aggregated, and reads nothing.
- ``expressions``: ``col``, ``lit`` and ``case``: columns, arithmetic, and choices by conditions.
- ``conditions``: comparisons, joined by ``&``, ``|`` and ``~``.
- ``aggregates``: ``count`` and the other statistics, and the part of a spec that they become.
- ``names``: the names of derived columns in a spec.
"""
