"""Keep the audit log as a Merkle tree that signed checkpoints fix.

* ``leaves``           one record for every first hand-out and every change that could permit one
* ``sequencer``        gives leaves their places in batches, and lets answers wait for that
* ``tree_store``       the tree's hashes in the database
* ``checkpoints``      the signed notes that fix the log's first so many leaves
* ``bootstrap``        begins a log: its key, its tree, its witness
* ``witness, sights``  what remembers outside of the database how far the log was
* ``suspension``       tells the log when a server stopped itself, and when it went on
* ``logged_time``      the server's time, never before the log was signed last
* ``background``       a thread for what may wait longer than whoever asks for it
* ``logged_subject``   what holds the tables of one subject to its leaves
* ``views``            what callers are answered about the log
* ``sinks``            a second place that takes each leaf before anybody is answered
* ``merkle``  the tree over the leaves, and its proofs
"""
