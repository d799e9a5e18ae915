"""Read one release as (epsilon, delta) in every way that has a theorem.

The rule of this module: every reading is an upper bound that holds, with its source
beside it.  The server prints the one that is marked ``shown``, ``guarantee_at``, and it is what
``level_for`` takes an epsilon to mean: the mechanism's own guarantee, and for a long vector with
Laplace noise the least of those that hold at delta for elements chosen in any way.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from penstock.accounting.charging.budget import ORDERS, converted_epsilon
from penstock.accounting.guarantees import guarantee_at
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.accounting.reporting.report import composed_epsilon
from penstock.errors import InvalidInput
from penstock.mechanisms.laplace import laplace_readings
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.mechanisms.lattice import rounded_up
from penstock.mechanisms.poisson import curve
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Definition
from penstock.privacy.sensitivity import Sensitivity


@dataclass(frozen=True)
class Reading:
    """Hold an epsilon at a delta, and why it holds; ``shown`` marks what the server prints."""

    name: str
    epsilon: float
    delta: float
    source: str
    shown: bool = False


@dataclass(frozen=True)
class _Release:
    mechanism: Mechanism
    level: Fraction
    sensitivity: Sensitivity
    dimension: int
    delta: float


def readings(
    mechanism: Mechanism,
    level: Fraction,
    sensitivity: Sensitivity,
    dimension: int,
    delta: float,
) -> Sequence[Reading]:
    """Return all readings of one release of ``dimension`` values, the one that is shown first.

    A closed form whose condition fails is left out.  Raises ``InvalidInput`` for a
    ``delta`` at which the mechanism guarantees nothing.
    """
    release = _Release(mechanism, level, sensitivity, dimension, delta)
    listed = [_guarantee(release)]
    for name in _others_of(mechanism):
        with suppress(InvalidInput):
            listed.append(_other(name, release))
    return tuple(listed)


def reading(
    name: str,
    mechanism: Mechanism,
    level: Fraction,
    sensitivity: Sensitivity,
    dimension: int,
    delta: float,
) -> Reading:
    """Return the reading called ``name``; ``guarantee`` is what the server prints.

    Raises ``InvalidInput`` for a name that the mechanism does not have, with those that it has;
    and if the condition of a theorem fails, with the condition and the number.
    """
    release = _Release(mechanism, level, sensitivity, dimension, delta)
    if name == "guarantee":
        return _guarantee(release)
    known = _others_of(mechanism)
    if name not in known:
        offered = ", ".join(["guarantee", *known])
        raise InvalidInput(
            f"{mechanism.name} noise has no reading called {name!r}; it has {offered}."
        )
    return _other(name, release)


def _guarantee(release: _Release) -> Reading:
    promise = guarantee_at(release.mechanism, release.level, release.sensitivity, release.delta)
    laplace = release.mechanism.name == "laplace"
    at_delta = laplace and promise.definition is not Definition.PURE
    source = _GUARANTEES.get(release.mechanism.name, f"{promise.definition} by its exact law")
    source = _LAPLACE_AT_DELTA if at_delta else source
    return Reading("guarantee", promise.epsilon, promise.delta, source, shown=True)


_Others = Mapping[str, tuple[str, Callable[[_Release], float]]]


def _others_of(mechanism: Mechanism) -> _Others:
    known = _OTHERS.get(mechanism.name, {})
    return {"pure": known["pure"]} if isinstance(mechanism, PureLaplace) else known


def _other(name: str, release: _Release) -> Reading:
    source, epsilon = _others_of(release.mechanism)[name]
    return Reading(name, epsilon(release), release.delta, source)


def _zcdp(release: _Release) -> float:
    rho = rounded_up(release.sensitivity.l2_squared / (2 * release.level))
    return (rho + 2 * math.sqrt(rho * math.log(1 / release.delta))) * (1 + _ROUNDING)


def _renyi(release: _Release) -> float:
    mechanism, level, sensitivity = release.mechanism, release.level, release.sensitivity
    return min(
        converted_epsilon(order, mechanism.cost(level, sensitivity, order).loss, release.delta)
        for order in ORDERS
    )


def _laplace_pure(release: _Release) -> float:
    return release.mechanism.guarantee(release.level, release.sensitivity, 0.0).epsilon


def _laplace_theorem(release: _Release) -> float:
    l1, scale = rounded_up(release.sensitivity.l1), float(release.level)
    return laplace_readings.theorem_epsilon(l1, release.sensitivity.l2, scale, release.delta)


def _laplace_composed(release: _Release) -> float:
    placed = PlacedRelease(
        release.mechanism.name, release.mechanism.granularity, release.level, release.sensitivity
    )
    return min(composed_epsilon([placed], release.delta), _laplace_theorem(release))


def _poisson_theorem(release: _Release) -> float:
    step, sensitivity = float(release.mechanism.granularity), release.sensitivity
    return curve.theorem_epsilon(
        float(release.level),
        float(sensitivity.l1) / step,
        sensitivity.l2 / step,
        float(sensitivity.linf) / step,
        release.dimension,
        release.delta,
    )


def _poisson_simplified(release: _Release) -> float:
    step, sensitivity = release.mechanism.granularity, release.sensitivity
    if max(sensitivity.l1, sensitivity.l2_squared / step, sensitivity.linf) > step:
        raise InvalidInput(
            f"The simplified form is for norms of at most one step of the noise's lattice,"
            f" {float(step):g}; take the theorem's."
        )
    return curve.simplified_epsilon(float(release.level), release.dimension, release.delta)


_ROUNDING: Final = 1e-14
"""The relative error of a few operations."""

_GUARANTEES: Final[Mapping[str, str]] = {
    "gaussian": "the analytic curve, less the lattice's part (Balle, Wang 2018, Theorem 8)",
    "generalized_gaussian": "the exact privacy-loss distribution (Ganesh, Zhao 2021, its rate)",
    "laplace": "l1/b, pure (Dwork, McSherry, Nissim, Smith 2006)",
    "poisson": "the exact hockey-stick divergence, in both directions",
}

_LAPLACE_AT_DELTA: Final = (
    "the least of l1/b, Theorem 1.3 (Andersson, Pagh, Steiner, Torkamani 2024) and the best order"
)

_OTHERS: Final[Mapping[str, _Others]] = {
    "gaussian": {
        "zcdp": ("rho + 2 sqrt(rho ln(1/delta)) (Bun, Steinke 2016, Proposition 1.3)", _zcdp),
        "renyi": (
            "best order of the ledger's conversion (Canonne, Kamath, Steinke 2020, Prop. 12)",
            _renyi,
        ),
    },
    "laplace": {
        "theorem": (
            "the closed form of Andersson, Pagh, Steiner, Torkamani 2024, Theorem 1.3",
            _laplace_theorem,
        ),
        "composed": ("the privacy-loss distribution of the lattice law", _laplace_composed),
        "renyi": (
            "best order of the ledger's conversion (Canonne, Kamath, Steinke 2020, Prop. 12)",
            _renyi,
        ),
        "pure": ("l1/b, at every delta (Dwork, McSherry, Nissim, Smith 2006)", _laplace_pure),
    },
    "poisson": {
        "theorem": (
            "the closed form of Andersson, Retschmeier, Nelson, Pagh 2025, Theorem E.2",
            _poisson_theorem,
        ),
        "simplified": (
            "a simpler form of that for norms of one step, as Corollary E.3 is",
            _poisson_simplified,
        ),
    },
}
"""Further readings of a mechanism by name: their sources, and the functions that compute them."""
