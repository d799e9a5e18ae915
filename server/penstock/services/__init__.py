"""Do what callers ask: one use case a file, one transaction each.

* ``context``                                    what every use case is given: database, keys,
                                                 clock, entropy
* ``repository``                                 rows by their names, and the levels that tiers
                                                 have
* ``budgets``                                    what each tier was granted, has spent and has
                                                 left
* ``computing``                                  where long computations are done
* ``retry``                                      runs a use case anew where the database dropped
                                                 it
* ``pagination``                                 pages of a list
* ``disk_room``                                  the room that is left, of which an end is kept
                                                 for taking access away
* ``schemas``                                    what callers send and what they are answered
* ``access``                                     who is acting, and what that takes
* ``noise``                                      the noise process of a query, and its sealed
                                                 state
* ``ledger``                                     accounts, charges, prices
* ``computations``                               long questions, worked out of public numbers
* ``datasets, people, queries, releases, streams``: what the product is about
* ``exposure``                                   what people know together
* ``previews``                                   what an act would mean and cost
* ``approvals``                                  what takes two people
* ``audit``                                      the log, read and proved
* ``verification``                               every stored row, held to the log
* ``operations, jobs``                           a home and its keys; long work behind the answers

Only services open transactions.  Randomness, time and keys come with the context.
"""
