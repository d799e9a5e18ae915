"""Define the ways in which a caller may name a noise level."""

from dataclasses import dataclass
from enum import StrEnum


class TargetKind(StrEnum):
    """Name the quantity in which a target is expressed."""

    EPSILON = "epsilon"
    RHO = "rho"
    MU = "mu"
    STANDARD_DEVIATION = "standard_deviation"
    HALF_WIDTH = "half_width"
    LEVEL = "level"


@dataclass(frozen=True)
class Target:
    """Hold a requested level: at most this loss, or at least this much noise.

    ``confidence`` belongs to ``half_width`` alone.
    """

    kind: TargetKind
    value: float
    confidence: float = 0.95
