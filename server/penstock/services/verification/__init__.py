"""Compare every stored row with the leaves of the audit log.

* ``verification``     the tree, its checkpoints, releases and rows, held to the leaves
* ``reconciliation``   the subjects that the log records, and where a table disagrees with it
* ``altered_rows``     rows whose HMACs do not match
* ``prices``           charges, held to the price of every query computed from nothing
"""
