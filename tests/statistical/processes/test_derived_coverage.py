"""Test that intervals of derived quantities hold the exact ones as often as they say.

Releases are drawn by each mechanism, and the client computes totals, differences, ratios and
shares of them, combines releases of two queries, and takes differences of a stream's totals.  For
Gaussian noise the coverage is the confidence itself, for other noise at least that.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import accept, frequency, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.support.thorough import by_count

from penstock.mechanisms import Mechanism, draw_anchor, family_of, released
from penstock.structures.ellipse import Ellipse
from penstock.structures.streams.forest import chain
from penstock.structures.streams.kary import KaryTree
from penstock_client import (
    Derived,
    ErrorBars,
    Guarantee,
    Level,
    Receipt,
    Release,
    RunningTotal,
    RunningTotals,
    Stream,
)
from penstock_client.derived import combination, combined, daily, ratio, share, total

CONFIDENCE = 0.95
SIZE = by_count(7_000, 20_000)
"""Releases for each check: a coverage off by 1.9% is found, 7 deviations, every night 12."""

LAPLACE_SIZE = 20_000
"""Those of Laplace noise, whose weakest variant is off by 1.1%."""

EXACT = (40.0, 25.0, 160.0)
SCALES = (3, 15, 60)
POWER = Fraction(4)
LEVELS: dict[str, Callable[[Fraction], Fraction]] = {
    "gaussian": lambda scale: scale * scale,
    "laplace": lambda scale: scale,
    "poisson": lambda scale: scale * scale,
    "skellam": lambda scale: scale * scale,
    "generalized_gaussian": lambda scale: scale,
}
SOME = datetime(2026, 11, 20, tzinfo=UTC)
QUANTITIES: dict[str, tuple[float, Callable[[Release], Derived]]] = {
    "one": (-40.0, lambda release: combination(release, {"a": -1})),
    "total": (225.0, total),
    "weighted": (33.75, lambda release: combination(release, {"a": 1, "b": -0.25})),
    "ratio": (0.625, lambda release: ratio(release, "b", "a")),
    "ratio of sums": (-0.6, lambda release: ratio(release, {"a": 1, "c": -1}, {"a": 1, "c": 1})),
    "share": (40 / 225, lambda release: share(release, "a")),
}
OPEN = ("ratio", "ratio of sums", "share")
"""Quantities whose interval may be everything, if noise is large."""


def mechanism_at(name: str, scale: int) -> tuple[Mechanism, Fraction]:
    family = family_of(name, POWER if name == "generalized_gaussian" else None)
    level = LEVELS[name](Fraction(scale))
    mechanism, ladder = family.plan(level, Fraction(1), Fraction(2**20))
    return mechanism, ladder.value(ladder.rung_at_or_above(level))


def noises(name: str, scale: int, size: int, label: str) -> NDArray[np.float64]:
    """Return noise of a mechanism, in units of values."""
    mechanism, level = mechanism_at(name, scale)
    stream = keyed_streams(f"derived {label} {name} {scale}")()
    drawn = draw_anchor(mechanism, np.zeros(size, dtype=np.int64), level, stream)
    values = released(mechanism, drawn) * float(mechanism.granularity)
    return np.asarray(values - float(mechanism.bias(level)), dtype=np.float64)


def release_of(name: str, scale: int, query: str) -> Release:
    """Return a release without its values."""
    mechanism, level = mechanism_at(name, scale)
    bars = mechanism.error(level, CONFIDENCE)
    return Release(
        id=query,
        query=query,
        dataset="people",
        tier="partner",
        mechanism=name,
        level=Level(mechanism.parameter, float(level)),
        guarantee=Guarantee("zcdp", 1.0, 1e-6),
        granularity=float(mechanism.granularity),
        keys=("a", "b", "c"),
        values=EXACT,
        error=ErrorBars(bars.standard_deviation, CONFIDENCE, bars.half_width),
        asserted_by=None,
        released_at=SOME,
        receipt=Receipt(None, ""),
        answer={},
    )


def size_of(name: str) -> int:
    return LAPLACE_SIZE if name == "laplace" else SIZE


@cache
def releases(name: str, scale: int, query: str = "first") -> tuple[Release, ...]:
    """Return many releases of the exact values."""
    given, size = release_of(name, scale, query), size_of(name)
    rows = noises(name, scale, 3 * size, query).reshape(size, 3) + EXACT
    return tuple(replace(given, values=tuple(row)) for row in rows.tolist())


def covered(exact: float, intervals: list[Derived]) -> int:
    return sum(one.lower <= exact <= one.upper for one in intervals)


def p_value(name: str, hits: int, trials: int, *, clamped: bool) -> float:
    """Return the p-value of the confidence, or of at least that."""
    if name == "gaussian" and not clamped:
        return frequency(hits, trials, CONFIDENCE)
    return float(stats.binomtest(hits, trials, CONFIDENCE, alternative="less").pvalue)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", sorted(LEVELS))
def test_derived_quantities_are_held_as_often_as_they_say(name: str, scale: int) -> None:
    shares, least = {}, 1.0
    for quantity, (exact, derive) in QUANTITIES.items():
        hits = covered(exact, [derive(release) for release in releases(name, scale)])
        clamped = quantity in OPEN and scale > SCALES[0]
        least = min(least, p_value(name, hits, size_of(name), clamped=clamped))
        shares[quantity] = hits / size_of(name)
    accept(min(1.0, len(QUANTITIES) * least), f"{name} at {scale}: {shares}")


@pytest.mark.parametrize("name", sorted(LEVELS))
def test_releases_of_two_queries_hold_one_quantity_together(name: str) -> None:
    pairs = zip(releases(name, 3), releases(name, 60, "second"), strict=True)
    hits = covered(EXACT[1], [combined(pair)["b"] for pair in pairs])
    size = size_of(name)
    accept(p_value(name, hits, size, clamped=False), f"{name}, combined: {hits / size:.4f}")


def test_a_ratio_by_the_delta_method_is_found_out() -> None:
    hits = 0
    for release in releases("gaussian", 60):
        found = ratio(release, "b", "a")
        half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * found.standard_deviation
        hits += abs(found.value - 0.625) <= half
    assert rejects(p_value("gaussian", hits, SIZE, clamped=False))


def test_a_normal_quantile_for_laplace_noise_is_found_out() -> None:
    hits = 0
    for release in (one for scale in SCALES for one in releases("laplace", scale)):
        found = combination(release, {"a": 1, "b": -0.25})
        half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * found.standard_deviation
        hits += abs(found.value - 33.75) <= half
    assert rejects(p_value("laplace", hits, len(SCALES) * LAPLACE_SIZE, clamped=False))


def sharing(*, stated: bool) -> int:
    """Return how many totals of four counts that share noise are held by their intervals."""
    nodes, deviation = Ellipse(4, 2), release_of("gaussian", 15, "shared").error.standard_deviation
    unit = np.eye(4, dtype=np.int64)
    matrix = np.array([nodes.values(row, Fraction(1)) for row in unit])
    rows = noises("gaussian", 15, 4 * SIZE, "shared").reshape(SIZE, 4) @ matrix
    bars = ErrorBars(deviation * math.sqrt(nodes.variance), CONFIDENCE, 1.0)
    given = replace(release_of("gaussian", 15, "shared"), keys=tuple("abcd"), error=bars, answer={})
    answer: dict[str, object] = {"covariance": None}
    if stated:
        parts: dict[str, float | None] = {
            "size_variance": None,
            "size_covariance": None,
            "values_per_group": 4,
        }
        for name, part in (("variance", nodes.variance), ("covariance", nodes.covariance)):
            parts[name] = deviation**2 * float(part)
        answer = {"covariance": {"grouped_counts": parts}}
    each = (replace(given, values=tuple(row), answer=answer) for row in rows.tolist())
    return covered(0.0, [total(release) for release in each])


def test_totals_of_counts_that_share_noise_are_held_as_often_as_they_say() -> None:
    accept(frequency(sharing(stated=True), SIZE, CONFIDENCE), "totals of counts that share noise")
    assert rejects(frequency(sharing(stated=False), SIZE, CONFIDENCE))


STEPS, RUNS = 13, 1600
TREES = [(2, False), (3, True), (4, False)]


def streams(name: str, k: int, *, subtracting: bool) -> tuple[list[RunningTotals], Stream]:
    """Return many runs of a stream whose elements are 0, drawn by the server's own tree."""
    tree = KaryTree(STEPS, k, subtracting)
    mechanism, level = mechanism_at(name, 60)
    each = mechanism.error(level, CONFIDENCE)
    ways = [list(chain(tree, tree.node(step))) for step in range(1, STEPS + 1)]
    nodes = max(max(way) for way in ways) + 1
    drawn = noises(name, 60, RUNS * nodes, f"stream {k} {subtracting}").reshape(RUNS, nodes)
    values = np.stack([drawn[:, way].sum(axis=1) for way in ways], axis=1)
    structure = {"kind": "kary", "k": k, "subtracting": subtracting}
    stream = Stream(
        name="hits", dataset="clicks", mechanism=name, status="active", dimension=1, tiers=(),
        asserted_by=None, answer={"structure": structure}, length=STEPS, next=None,
    )  # fmt: skip
    errors = [
        ErrorBars(each.standard_deviation * math.sqrt(len(way)), CONFIDENCE, 1.0) for way in ways
    ]
    runs = [
        RunningTotals(
            stream="hits",
            dataset="clicks",
            tier="partner",
            mechanism=name,
            level=Level(mechanism.parameter, float(level)),
            guarantee=Guarantee("zcdp", 1.0, 1e-6),
            asserted_by=None,
            released_at=SOME,
            receipt=Receipt(None, ""),
            items=tuple(
                RunningTotal(step, (value,), error)
                for step, value, error in zip(range(1, STEPS + 1), row, errors, strict=True)
            ),
            answer={"granularity": float(mechanism.granularity)},
        )
        for row in values.tolist()
    ]
    return runs, stream


@pytest.mark.parametrize(("k", "subtracting"), TREES)
@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_elements_of_a_stream_are_held_as_often_as_they_say(
    name: str, k: int, subtracting: bool
) -> None:
    runs, stream = streams(name, k, subtracting=subtracting)
    found = [daily(run, stream) for run in runs]
    each = [covered(0.0, [items[step] for items in found]) for step in range(1, STEPS + 1)]
    least = min(p_value(name, hits, RUNS, clamped=False) for hits in each)
    accept(min(1.0, STEPS * least), f"elements of {name}: {np.array(each) / RUNS}")


def test_totals_taken_as_independent_are_found_out() -> None:
    runs, _ = streams("gaussian", 2, subtracting=False)
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    hits = 0
    for run in runs:
        before, last = run.items[-2:]
        deviation = math.hypot(before.error.standard_deviation, last.error.standard_deviation)
        hits += abs(last.values[0] - before.values[0]) <= quantile * deviation
    assert rejects(p_value("gaussian", hits, RUNS, clamped=False))
