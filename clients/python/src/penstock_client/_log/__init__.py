"""Remember a server's audit log and verify its proofs.

* ``log``        verifies checkpoints and receipts
* ``memory``     the file that remembers the newest checkpoint of each server's log
* ``notes``      reads checkpoints, which are signed notes
* ``tree``       verifies inclusion and consistency proofs
* ``leaves``     reads leaves
* ``ed25519``    verifies signatures
* ``nesting``    refuses documents that nest too deep for Python's readers
* ``reports``    verifies auditors' reports
* ``watch``      a monitor that follows a log and reports a fork
* ``cosigning``  the key of a cosigner, and cosignatures
"""
