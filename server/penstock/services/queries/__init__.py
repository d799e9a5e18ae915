"""Register queries: charge first, commit, then read the data once.

* ``registration``       settle, charge, commit; then draw the anchor
* ``registered``         what was registered before somebody was told
* ``queries``            queries as their callers see them
* ``level_changes``      levels lowered for the future, or raised and paid for
* ``exact_answers``      how to get an exact answer, and to know it again without keeping it
* ``mismatches``         exact values that are sent again: seldom compared, always on record
* ``category_checks``    what share of rows no category takes, as a query
* ``refused_histograms``: the refusal of a sparse histogram, with what would be accepted
"""
