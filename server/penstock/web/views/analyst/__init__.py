"""Show the pages of every reader.

* ``sign_in``                      the start page, signing in and out
* ``single_sign_on``               signing in at the OpenID provider
* ``appearance``                   light or dark pages
* ``catalogue, queries, streams``  datasets, queries, streams and their releases
* ``questions``                    questions in SQL, and those that somebody registered
* ``sending``                      registering or requesting a question, from SQL or from the form
* ``history``                      releases that users received
* ``budgets``                      budgets granted, spent and left
* ``own_tokens, own_jobs``         the caller's own tokens and jobs
"""
