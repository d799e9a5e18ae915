"""Preview an action: what it would do and cost, without doing it.

* ``query_preview, stream_preview``              a query or a stream, as registering it would
                                                 calibrate and price it
* ``alternatives``                               how far off counts would be under every way to
                                                 protect them
* ``allowance_preview``                          what a query would take of an analyst's allowance
* ``given_allowance``                            what an allowance would leave, before it is given
* ``strategies``                                 how far off answers of a workload would be under
                                                 every strategy
* ``dummy_answers``                              the exact answer to a query on made-up rows
* ``level_preview, budget_preview, version_preview, clearance_preview``: a change of levels or
  budgets, a new version, another clearance
"""
