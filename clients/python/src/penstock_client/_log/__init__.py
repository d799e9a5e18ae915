"""Remember a server's log and check its proofs.

* ``log, memory``       what a client remembers of a log, what it refuses, and the file it
                        remembers in
* ``notes``             checkpoints as signed notes
* ``tree``              inclusion and consistency proofs
* ``leaves``            what a leaf states
* ``ed25519``           verification of signatures
* ``nesting``           how deep brackets nest, counted before a reader recurses into them
* ``watch, cosigning``  a monitor that follows a log and tells of a fork, and a cosigner's key
"""
