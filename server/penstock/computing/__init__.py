"""Long computations in processes of their own, which know nothing but what they are asked.

A child is a clean interpreter: an environment of a few harmless names, no connection, no key
and no file of its parent's.  It is told public numbers as JSON, works them out under a
bound on processor time and memory, and is killed and replaced where it exceeds one.

* ``frames``    one JSON document after another through a pipe
* ``bounds``    what one computation may take, and how the operating system is told
* ``child``     the program that a child runs
* ``process``   one child as its parent sees it: started, asked, killed
* ``turns``     one computation at a time for each person
* ``pool``      the children of one process, whose queue is bounded
* ``answers``   what was worked out before, for each person apart
"""

from penstock.computing.answers import Answers
from penstock.computing.bounds import Bounds
from penstock.computing.pool import Outcome, Pool
from penstock.computing.turns import LocalTurns, Turns

__all__ = ["Answers", "Bounds", "LocalTurns", "Outcome", "Pool", "Turns"]
