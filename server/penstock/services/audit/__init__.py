"""Let auditors read the log, check its proofs, and continue after a restore.

* ``events, exports``              the log, filtered or as a whole file
* ``proofs, proof_status``         inclusion and consistency proofs, and the present state of
                                   the log
* ``restores``                     continuing after a database was restored to an older state
* ``clocks``                       continuing from a time in the log that was wrong
* ``refusals``                     how many requests were refused
* ``cosigners``                    the parties that sign checkpoints beside the server
* ``logged_restores``              the leaves of restores, and the accounts held to them
"""
