"""Define the values that state a release's guarantee, its cost and its error."""

from dataclasses import dataclass
from enum import StrEnum


class Definition(StrEnum):
    """Name the definition of differential privacy that a mechanism meets natively."""

    PURE = "pure"
    ZCDP = "zcdp"
    APPROXIMATE = "approximate"


@dataclass(frozen=True)
class Guarantee:
    """Hold a guarantee: its native definition, and its reading as (epsilon, delta).

    ``rho`` and ``mu`` are set if the mechanism has them (Gaussian).  ``delta`` is 0 for pure
    definitions.
    """

    definition: Definition
    epsilon: float
    delta: float
    rho: float | None = None
    mu: float | None = None


@dataclass(frozen=True)
class Cost:
    """Hold what the ledger adds up: a Rényi divergence and a failure probability.

    ``loss`` is the divergence at the account's order (in nats), ``failure`` the
    probability that this bound does not hold (``delta0``).
    """

    loss: float
    failure: float


@dataclass(frozen=True)
class ErrorBars:
    """Hold the error of one value: its standard deviation and a confidence interval.

    ``half_width`` is that of the two-sided interval at ``confidence``, in the units of
    the released values, as is ``standard_deviation``.
    """

    standard_deviation: float
    confidence: float
    half_width: float
