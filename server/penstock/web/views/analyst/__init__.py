"""Show what every reader may see and do.

* ``sign_in``                      the first page, signing in and out
* ``catalogue, queries, streams``  what there is, and releases of it
* ``history``                      what was handed out
* ``budgets``                      what was granted, what is spent, what is left
* ``own_tokens, own_jobs``         one's own tokens and long work
"""
