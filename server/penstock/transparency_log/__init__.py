"""Keep the audit log as a Merkle tree with signed checkpoints.

* ``leaves``           one record for every first grant and every change that could permit one
* ``sequencer``        gives leaves their places in batches, and makes answers wait for that
* ``tree_store``       the tree's hashes in the database
* ``checkpoints``      signed notes of the log's size and root
* ``bootstrap``        begins a log: its key, its tree, its witness
* ``witness``          a record outside of the database of how long the log was
* ``sights``           what that record says, and its authentication
* ``spending``         what accounts have spent, for that record
* ``suspension``       leaves about when a server suspended itself and when it continued
* ``logged_time``      the server's time, never earlier than the newest checkpoint
* ``background``       a thread for tasks that may outlast the request that started them
* ``logged_subject``   the comparison of the tables of one subject with its leaves
* ``views``            the answers about the log
* ``sinks``            a second place that receives each leaf before a request is answered
* ``merkle``  the tree over the leaves, and its proofs
"""
