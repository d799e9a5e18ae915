"""Draw chunks between their neighbors in other processes, which may be on other machines.

* ``chunk_work``   what a process is told of a chunk, as text, and how it is carried out
* ``cluster``      works carried out on a Ray cluster

A worker reads the neighbors' chunks from the store and writes the new one there, so it has the keys
of all three.  Exact values never leave the server: anchors are drawn in it.
"""
