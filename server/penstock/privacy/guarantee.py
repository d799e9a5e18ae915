"""What a release promises, what it costs, and how far off it may be."""

from dataclasses import dataclass
from enum import StrEnum


class Definition(StrEnum):
    """The definition of differential privacy that a mechanism meets natively."""

    PURE = "pure"
    ZCDP = "zcdp"
    APPROXIMATE = "approximate"


@dataclass(frozen=True)
class Guarantee:
    """A promise: native definition, and its reading as (epsilon, delta).

    ``rho`` and ``mu`` are set where the mechanism has them (Gaussian).  ``delta`` is 0
    for pure definitions.
    """

    definition: Definition
    epsilon: float
    delta: float
    rho: float | None = None
    mu: float | None = None


@dataclass(frozen=True)
class Cost:
    """What the ledger adds up: a Rényi divergence and a failure probability.

    ``loss`` is the divergence at the account's order (in nats), ``failure`` the
    probability that this bound does not hold (``delta0``).
    """

    loss: float
    failure: float


@dataclass(frozen=True)
class ErrorBars:
    """How far one value may be from the exact answer.

    ``half_width`` is that of the two-sided interval at ``confidence``, in the units of
    the released values, as is ``standard_deviation``.
    """

    standard_deviation: float
    confidence: float
    half_width: float
