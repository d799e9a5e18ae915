"""Represent Laplace noise of which only the pure epsilon is known to hold.

Where whoever chooses the data has read noise that is added to later data as well, the epsilon of
the whole is proved, and no smaller loss of its parts.  The largest loss that a pure epsilon admits
is that of randomized response (Kairouz, Oh, Viswanath 2015), also if the release is a conversation
(Vadhan, Wang 2021, Theorem 1.7); it is the law of discrete Laplace noise in one lattice step.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from typing_extensions import override

from penstock.mechanisms.laplace.law import renyi_divergence
from penstock.mechanisms.laplace.process import DiscreteLaplace, Laplace
from penstock.mechanisms.lattice import rounded_up
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Cost
from penstock.privacy.sensitivity import Sensitivity


@dataclass(frozen=True)
class PureLaplace(Laplace):
    """Draw the same noise as ``Laplace``, which loses what its pure epsilon admits."""

    @override
    def cost(self, level: Fraction, sensitivity: Sensitivity, order: float) -> Cost:
        """Return the divergence of randomized response at ``Delta1 / b``, with failure 0."""
        epsilon = rounded_up(sensitivity.l1 / level)
        if math.isinf(order):
            return Cost(loss=epsilon, failure=0.0)
        return Cost(loss=min(renyi_divergence(order, epsilon, epsilon), epsilon), failure=0.0)


@dataclass(frozen=True)
class PureDiscreteLaplace(PureLaplace, DiscreteLaplace):
    """Draw the same noise as ``DiscreteLaplace``, which loses what its pure epsilon admits."""


_PURE: Final[Mapping[type[Mechanism], type[Mechanism]]] = {
    Laplace: PureLaplace,
    DiscreteLaplace: PureDiscreteLaplace,
}


def purely_charged(family: type[Mechanism]) -> type[Mechanism]:
    """Return Laplace noise with the loss of its pure epsilon; other noise as it is."""
    return _PURE.get(family, family)
