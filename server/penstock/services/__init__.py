"""Run the use cases: one use case per file, one transaction each.

* ``context``                                    the arguments of every use case: database, keys,
                                                 clock, entropy
* ``repository``                                 rows by their names, and the levels that tiers
                                                 have
* ``budgets``                                    each tier's grants, spending and remaining budget
* ``rewording``                                  titles and other texts, changed by admins
* ``computing``                                  the place where long computations run
* ``kept``                                       what does not change between requests
* ``kept_keys``                                  keys of datasets and queries, for a few seconds
* ``retry``                                      a second run of a use case that the database
                                                 interrupted
* ``pagination``                                 pages of a list
* ``disk_room``                                  the free disk space, of which a reserve is kept
                                                 for taking access away
* ``witnesses``                                  the log's witness, in a folder or a bucket
* ``schemas``                                    what callers send and receive
* ``access``                                     authentication and permissions
* ``noise``                                      the noise process of a query, and its sealed
                                                 state
* ``ledger``                                     accounts, charges, prices
* ``allowances``                                 what analysts of a tier register by themselves
* ``computations``                               long computations on public numbers
* ``datasets, people, queries, releases, streams``: the subjects of the product
* ``catalogue``                                  search, filters and sorting of queries in sight
* ``synthetic_rows``                             rows made up from the counts of a release
* ``exposure``                                   the joint privacy loss to sets of people
* ``previews``                                   what an action would mean and cost
* ``approvals``                                  actions that take two people
* ``audit``                                      the log, its proofs, restores
* ``overviews``                                  what the home page of each role shows
* ``reports``                                    what auditors file, signed
* ``requests``                                   queries that analysts want registered
* ``webhook``                                    messages of requests and decisions
* ``monitoring``                                 what an operator's command measures for Prometheus
* ``uploads``                                  files of data that admins upload
* ``wordings``                                   titles and other texts for readers
* ``schedules``                                  new data and queries by a timetable
* ``verification``                               every stored row, compared with the log
* ``sign_on``                                    sign-in through an OpenID provider, and what
                                                 its groups give
* ``operations, jobs``                           a home and its keys; background jobs

Only services open transactions.  Randomness, time and keys come with the context.
"""
