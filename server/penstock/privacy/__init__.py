"""Define the field's terms as plain values.  Nothing here draws, stores or serves.

* ``neighboring``  the neighboring relation: ``NeighboringRelation``
* ``sensitivity``  how far one privacy unit moves a vector: ``Sensitivity``
* ``level``        the ladder of noise levels: ``Ladder``
* ``guarantee``    what a release guarantees, costs, and is off by
* ``target``       how a caller names a level: ``Target``
"""

from penstock.privacy.guarantee import Cost, Definition, ErrorBars, Guarantee
from penstock.privacy.level import Ladder
from penstock.privacy.neighboring import NeighboringRelation
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target, TargetKind

__all__ = [
    "Cost",
    "Definition",
    "ErrorBars",
    "Guarantee",
    "Ladder",
    "NeighboringRelation",
    "Sensitivity",
    "Target",
    "TargetKind",
]
