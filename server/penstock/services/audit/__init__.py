"""Let auditors read the log and hold everything to it.

* ``events, exports``              the log, filtered or as a whole file
* ``proofs, proof_status``         inclusion and consistency proofs, and what the log stands on
                                   now
* ``restores``                     going on after a database was put back to an older state
* ``clocks``                       going on from a time in the log that was wrong
* ``refusals``                     how many requests were refused
* ``cosigners``                    who signs checkpoints beside the server
* ``logged_restores``              the leaves of restores, and the accounts held to them
"""
