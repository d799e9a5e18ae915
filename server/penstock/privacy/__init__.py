"""The words of the field, as plain values.  Nothing here draws, stores or serves."""

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
