"""Register queries: charge first, commit, then read the data once.

* ``registration``       plan, charge, commit; then draw the anchor
* ``anchors``            what a registration draws first, and the row of its query, now active
* ``pending``            what an interrupted registration charged already
* ``charging``           a new query's row, and the charge of one under an allowance
* ``prepared_request``   a request that was prepared, and its caller, for computations
* ``registered``         registrations that were done but not answered
* ``queries``            queries as their callers see them
* ``level_changes``      levels lowered for the future, or raised and charged
* ``recorded_statement``: what a row records of a spec, and the statement that is run for it
* ``exact_answers``      reading exact answers
* ``mismatches``         exact values that are sent again: rarely compared, always recorded
* ``category_checks``    the share of rows outside all categories, as a query
* ``refused_histograms``: refusals of sparse histograms, with settings that would be accepted
* ``sql``                queries that are sent in SQL, and shown in SQL
"""
