"""Run long computations in processes of their own, which know nothing but their arguments.

A child is a clean interpreter: an environment of a few harmless names, no connection, no key
and no file of its parent's.  It receives public numbers as JSON, computes with them under a
bound on processor time and memory, and is killed and replaced when it exceeds one.

* ``frames``    one JSON document after another through a pipe
* ``bounds``    the bounds of a computation, and how the operating system enforces them
* ``child``     the program that a child runs
* ``process``   one child as its parent sees it: started, asked, killed
* ``turns``     one computation at a time for each person
* ``pool``      the children of one process, with a bounded queue
* ``answers``   earlier answers, kept separately for each person
"""

from penstock.computing.answers import Answers
from penstock.computing.bounds import Bounds
from penstock.computing.pool import Outcome, Pool
from penstock.computing.turns import LocalTurns, Turns

__all__ = ["Answers", "Bounds", "LocalTurns", "Outcome", "Pool", "Turns"]
