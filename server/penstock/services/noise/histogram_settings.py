"""Fix the public settings of a sparse histogram: its keys and its thresholds.

Both are fixed when it is registered: from then on every rung of its ladder has its threshold,
wherever the levels of tiers are moved later.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.histograms import DomainSpec, HistogramQuery, domain_of
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.process import Mechanism
from penstock.persistence.tables.people import Tier
from penstock.privacy.level import Ladder
from penstock.services.schemas.histograms import AppearanceView, FalseKeys, HistogramView
from penstock.services.schemas.views import Key, Keys
from penstock.spec_fields import folded
from penstock.structures.sparse_histogram.domain import Domain, Uint64
from penstock.structures.sparse_histogram.noise import HistogramNoise
from penstock.structures.sparse_histogram.threshold import LaplaceThresholds, Thresholds

_DOMAIN: TypeAdapter[Any] = TypeAdapter(DomainSpec)

CERTAIN = 0.9999
EXAMPLE_UNITS = 1_000_000
"""A ``max_units`` for examples, unless it must be less."""

MOST_COUNTS = 40
"""Chances to be reported are listed up to this one, for at most this many counts."""


@dataclass(frozen=True)
class HistogramShape:
    """Hold the domain of keys as it was declared (JSON), and the expected false keys by rung."""

    declared: str
    false_keys: tuple[tuple[int, float], ...]

    @classmethod
    def decoded(cls, stored: str) -> "HistogramShape":
        """Decode settings that ``encoded`` wrote."""
        parts = json.loads(stored)
        false_keys = ((int(rung), float(number)) for rung, number in parts["false_keys"])
        return cls(json.dumps(parts["domain"], sort_keys=True), tuple(false_keys))

    def encoded(self) -> str:
        """Return the settings as they are stored (JSON)."""
        parts = {"domain": json.loads(self.declared), "false_keys": self.false_keys}
        return json.dumps(parts, sort_keys=True)

    @property
    def domain(self) -> Domain:
        """Return the set of all possible keys."""
        return domain_of(_DOMAIN.validate_json(self.declared))

    def noise(self, mechanism: str) -> type[HistogramNoise] | type[Laplace]:
        """Return the mechanism of this name, still without its lattice."""
        most_false = max(number for _, number in self.false_keys)
        return noise_of(mechanism, self.domain.size, most_false)

    def thresholds(self, ladder: Ladder, mechanism: Mechanism) -> Thresholds:
        """Return the thresholds above which a key is reported, for every rung."""
        thresholds = LaplaceThresholds if isinstance(mechanism, Laplace) else Thresholds
        return thresholds(ladder, mechanism.granularity, self.domain.size, dict(self.false_keys))

    def keys(self, ranks: np.ndarray[Any, np.dtype[np.uint64]]) -> Keys:
        """Return the keys of these ranks."""
        domain = self.domain
        if isinstance(domain, Uint64):
            return ranks
        names: list[Key] = [domain.key(int(rank)) for rank in ranks]
        return names

    def view(self, ladder: Ladder, mechanism: Mechanism, rung: int) -> HistogramView:
        """Return the settings as a reader at ``rung`` sees them."""
        thresholds = self.thresholds(ladder, mechanism)
        exceeded = _laplace_above if isinstance(mechanism, Laplace) else _normal_above
        return HistogramView(
            domain=json.loads(self.declared),
            size=float(self.domain.size),
            threshold=float(thresholds.at(rung)),
            false_keys=thresholds.expected(rung),
            appears=_appearances(
                float(thresholds.at(rung) + mechanism.granularity / 2),
                partial(exceeded, float(ladder.value(rung))),
            ),
        )


def settled(
    declared: Mapping[str, Any],
    false_keys: FalseKeys,
    rungs: Mapping[str, int],
    tiers: Sequence[Tier],
    limit: Tier | None,
) -> HistogramShape:
    """Return the settings of a request whose tiers are at ``rungs``.

    Tiers above ``limit``, which the caller may not see, are ignored.  Raises ``InvalidInput`` for
    tiers that do not exist or do not see the query, and for two numbers at one level.
    """
    by_rung: Mapping[int, float] = {}
    if isinstance(false_keys, Mapping):
        by_rung = _by_rung(false_keys, rungs, tiers, limit)
    by_rung = by_rung or {min(rungs.values()): most(false_keys)}
    return HistogramShape(json.dumps(declared, sort_keys=True), tuple(sorted(by_rung.items())))


def most(false_keys: FalseKeys) -> float:
    """Return the largest number of false keys that any tier expects."""
    return max(false_keys.values()) if isinstance(false_keys, Mapping) else false_keys


def _by_rung(
    false_keys: Mapping[str, float],
    rungs: Mapping[str, int],
    tiers: Sequence[Tier],
    limit: Tier | None,
) -> dict[int, float]:
    known = {tier.folded: tier for tier in tiers}
    by_rung: dict[int, tuple[str, float]] = {}
    for name, number in false_keys.items():
        at = pointer("false_keys", name)
        tier = known.get(folded(name))
        if tier is None:
            raise InvalidInput(
                f"There is no tier {name!r}; create it first, or leave it out.", pointer=at
            )
        if limit is not None and tier.rank > limit.rank:
            continue
        if tier.name not in rungs:
            raise InvalidInput(
                f"Tier {tier.name!r} does not see this query, so it expects no false keys; give"
                f" it a level, or leave it out.",
                pointer=at,
            )
        other, before = by_rung.setdefault(rungs[tier.name], (tier.name, number))
        if before != number:
            raise InvalidInput(
                f"Tiers {other!r} and {tier.name!r} have the same level, at which a key is"
                f" either reported or not: they expect the same number of false keys, not"
                f" {before:g} and"
                f" {number:g}.",
                pointer=at,
            )
    return {rung: number for rung, (_, number) in by_rung.items()}


def noise_of(mechanism: str, size: int, most_false: float) -> type[HistogramNoise] | type[Laplace]:
    """Return the mechanism of this name for a histogram over ``size`` keys."""
    return Laplace if mechanism == Laplace.name else HistogramNoise.of(size, most_false)


def _normal_above(variance: float, value: float) -> float:
    """Return the chance that normal noise is above ``value``."""
    return NormalDist().cdf(-value / math.sqrt(variance))


def _laplace_above(scale: float, value: float) -> float:
    """Return the chance that Laplace noise is above ``value``."""
    half = math.exp(-abs(value) / scale) / 2
    return half if value > 0 else 1 - half


def _appearances(threshold: float, above: Callable[[float], float]) -> list[AppearanceView]:
    """Return the chance that a key is reported, for counts 1, 2, 5, 10 ... up to certainty."""
    views = []
    for place in range(MOST_COUNTS):
        count = (1, 2, 5)[place % 3] * 10 ** (place // 3)
        chance = above(threshold - count)
        views.append(AppearanceView(count, chance))
        if chance >= CERTAIN:
            break
    return views


def rows_of(request: HistogramQuery) -> int:
    """Return the most that one privacy unit adds to a key's count."""
    counted = request.aggregate.type == "count"
    return (request.contribution.max_rows_per_group or 1) if counted else 1


def too_large(problem: InvalidInput, request: HistogramQuery) -> InvalidInput:
    """Return the error for counts that no lattice can represent, with a ``max_units`` that fits."""
    units = int(str(problem.data["largest_bound"])) // rows_of(request)
    return InvalidInput(
        problem.detail
        + (
            f" For computed counts that is a max_units of at most {units}: declare it of the"
            ' dataset, such as "max_units": '
            f"{min(units, EXAMPLE_UNITS)}, if it never has more people. It costs nothing; larger"
            f" totals are cut off there."
            if units
            else ""
        )
    )


def require_fitting(mechanism: str, delta: float, granularity: float | None = None) -> None:
    """Raise ``InvalidInput`` for noise, or a delta, that a sparse histogram cannot have."""
    if mechanism not in (Gaussian.name, Laplace.name):
        raise InvalidInput(
            "A sparse histogram has gaussian or laplace noise: only for those is the law of a key's"
            " noise known, given that the key was not reported; it is not known for"
            f" {mechanism} noise.",
            pointer="/mechanism",
        )
    if granularity is not None:
        raise InvalidInput(
            "The noise of a sparse histogram is on a lattice so fine that it does not show; leave"
            " the granularity out.",
            pointer="/granularity",
        )
    if delta == 0 and mechanism == Gaussian.name:
        raise InvalidInput(
            "A sparse histogram with gaussian noise needs a dataset with a delta above 0, such as"
            " 1e-6; that of this one is 0. Choose laplace.",
            pointer="/mechanism",
        )
