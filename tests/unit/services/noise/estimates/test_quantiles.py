"""Test quantiles from noisy sums over bins, and by simulation that their intervals hold.

Every group is a trial of its own.  Noise and sampling are drawn anew in each.
"""

from dataclasses import replace
from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import FALSE_ALARM

from penstock.randomness import Stream
from penstock.services.noise.estimates.products import Estimate
from penstock.services.noise.estimates.quantiles import Distributions
from penstock.structures.bin_tree import BinTree

RATIO, LONE, MISSES, TRIALS = 1.959964, 1.644854, 0.05, 3000
EDGES = np.linspace(0.0, 100.0, 257)
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.98)

Numbers = NDArray[np.float64]


def generator_of(*label: object) -> Generator:
    """Return numbers that are the same for the same label."""
    return Stream.from_key(sha256(repr(label).encode()).digest()).generator


def drawn(*shape: int) -> Numbers:
    """Return rows of a law that leans to the lower end, and has empty bins above 95."""
    return np.minimum(100 * generator_of(shape).beta(1.5, 4, shape), 95)


def distributions(
    counts: NDArray[np.int64], deviation: float, trials: int = 1, **changes: object
) -> Distributions:
    """Return released sums over bins, from counts of bins: one row, or one of each group."""
    tree = BinTree(len(EDGES) - 1)
    nodes = tree.nodes(np.atleast_2d(counts)).astype(float)
    noisy = generator_of(deviation, trials).normal(
        0, deviation, (max(trials, len(nodes)), tree.size)
    )
    noisy += nodes
    own = Distributions(
        noisy,
        EDGES,
        100.0,
        whole=False,
        deviation=deviation,
        ratio=RATIO,
        lone_ratio=LONE,
        confidence=0.95,
        rows_per_unit=1,
        sampling=False,
    )
    return replace(own, **changes)  # type: ignore[arg-type]  # of the test's own fields


def counted(values: Numbers) -> NDArray[np.int64]:
    return np.histogram(values, EDGES)[0]


@cache
def sampled(rows: int) -> NDArray[np.int64]:
    """Return the counts of as many samples of a population as there are trials."""
    places = (drawn(TRIALS, rows) * 2.56).astype(np.int64) + 256 * np.arange(TRIALS)[:, None]
    return np.bincount(places.ravel(), minlength=256 * TRIALS).reshape(TRIALS, 256)


def named(groups: list[list[Estimate]], name: str) -> list[Estimate]:
    return [each for group in groups for each in group if each.name == name]


def missed(estimates: list[Estimate], truth: float) -> int:
    return sum(
        not (each.lower or 0) <= truth <= (each.upper or 0)
        for each in estimates
        if each.lower is not None
    )


def too_often(misses: int) -> bool:
    return bool(stats.binom.sf(misses - 1, TRIALS, MISSES) < FALSE_ALARM)


VALUES = np.sort(drawn(4000))
TRUTH = {each: float(VALUES[int(np.ceil(each * len(VALUES))) - 1]) for each in PROBABILITIES}


@pytest.mark.parametrize("deviation", [2.0, 12.0, 40.0])
def test_an_interval_of_the_rows_misses_no_more_often_than_it_says(deviation: float) -> None:
    own = distributions(counted(VALUES), deviation, TRIALS)
    groups = own.estimates(PROBABILITIES)
    for probability, truth in TRUTH.items():
        shown = named(groups, f"quantile:{probability}")
        assert not too_often(missed(shown, truth)), probability
    count = missed(named(groups, "n"), len(VALUES))
    assert not too_often(count)
    assert count > TRIALS * MISSES / 2
    spread = TRUTH[0.75] - TRUTH[0.25]
    assert not too_often(missed(named(groups, "interquartile_range"), spread))
    shares = np.cumsum(counted(VALUES)) / len(VALUES)
    for place in (20, 64, 130, 250):
        lower, upper = own.band.lower[:, place], own.band.upper[:, place]
        assert not too_often(int(((lower > shares[place]) | (upper < shares[place])).sum()))


def test_an_end_fails_as_often_as_it_says_where_one_edge_decides() -> None:
    """Half of the rows are in one bin, which the median is in by a hair, and half in the next."""
    counts = np.zeros(256, dtype=np.int64)
    counts[[99, 100]] = 1000, 1000
    own = distributions(counts, 12.0, TRIALS)
    misses = missed(named(own.estimates((0.5,)), "median"), EDGES[99] + 0.1)
    one_end = stats.binom(TRIALS, MISSES / 2)
    assert min(one_end.cdf(misses), one_end.sf(misses - 1)) > FALSE_ALARM
    narrow = replace(own, ratio=0.75 * RATIO).estimates((0.5,))
    found = missed(named(narrow, "median"), EDGES[99] + 0.1)
    assert one_end.sf(found - 1) < FALSE_ALARM


def test_intervals_that_are_half_as_wide_are_found_out() -> None:
    own = distributions(counted(VALUES), 40.0, TRIALS)
    narrow = replace(own, ratio=0.4 * RATIO).estimates(PROBABILITIES)
    for probability in (0.25, 0.5, 0.75):
        found = missed(named(narrow, f"quantile:{probability}"), TRUTH[probability])
        assert too_often(found), (probability, found)


@pytest.mark.parametrize("deviation", [1.0, 6.0, 20.0])
def test_an_interval_of_a_population_covers_what_sampling_does(deviation: float) -> None:
    counts = sampled(1000)
    own = distributions(counts, deviation)
    truth = {each: 100 * float(stats.beta.ppf(each, 1.5, 4)) for each in PROBABILITIES}
    wide = replace(own, sampling=True).estimates(PROBABILITIES)
    for probability, value in truth.items():
        assert not too_often(missed(named(wide, f"quantile:{probability}"), value)), probability
    if deviation == 1.0:
        narrow = own.estimates(PROBABILITIES)
        assert too_often(missed(named(narrow, "median"), truth[0.5]))


def test_rows_of_one_unit_that_are_all_alike_are_covered() -> None:
    counts = 4 * sampled(500)
    own = distributions(counts, 4.0, sampling=True, rows_per_unit=4)
    truth = 100 * float(stats.beta.ppf(0.5, 1.5, 4))
    assert not too_often(missed(named(own.estimates((0.5,)), "median"), truth))
    alone = replace(own, rows_per_unit=1)
    assert too_often(missed(named(alone.estimates((0.5,)), "median"), truth))


def test_without_noise_a_quantile_is_in_its_own_bin() -> None:
    groups = distributions(counted(VALUES), 1e-9).estimates(PROBABILITIES)
    for probability, truth in TRUTH.items():
        (each,) = named(groups, f"quantile:{probability}")
        assert each.lower is not None
        assert each.upper is not None
        # Where a share is met exactly at an edge, noise may put it into either bin.
        assert each.upper - each.lower < 2.1 * 100 / 256
        assert each.lower <= truth <= each.upper
        assert each.lower <= (each.value or 0) <= each.upper
        assert each.standard_deviation == pytest.approx(0, abs=1e-5)


def test_a_quantile_is_within_its_interval_whatever_the_noise() -> None:
    own = distributions(counted(VALUES), 60.0, 500)
    for group in own.estimates(PROBABILITIES):
        for each in group[1:]:
            assert (each.lower or 0) <= (each.value or 0) <= (each.upper or 0), each.name
    for part in (own.shares, own.band.lower, own.band.upper):
        assert (np.diff(part, axis=1) >= 0).all()
        assert (part[:, -1] == 1).all()
    assert (own.band.lower <= own.shares).all()
    assert (own.shares <= own.band.upper).all()


def test_an_extreme_quantile_reaches_the_bound_where_noise_hides_it() -> None:
    groups = distributions(counted(VALUES), 40.0, 200).estimates((0.001, 0.999))
    below = [each.lower for each in named(groups, "quantile:0.001")]
    assert below.count(0.0) > 190
    above = [each.upper for each in named(groups, "quantile:0.999")]
    assert above.count(100.0) > 100


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_have_a_count_and_no_quantiles(rows: int) -> None:
    own = distributions(counted(VALUES[:rows]), 10.0, TRIALS)
    groups = own.estimates((0.5,))
    assert not too_often(missed(named(groups, "n"), rows))
    shown = [each for each in named(groups, "median") if each.value is not None]
    assert len(shown) < 0.04 * TRIALS
    unclear = own.shares[~own.is_clear]
    assert (unclear[:, :-1] == 0).all()


def test_an_interquartile_range_of_a_count_that_is_hardly_clear_may_be_any() -> None:
    """Its band is wider than that which the count is clear by."""
    edges, tree = np.linspace(0.0, 70.0, 8), BinTree(7)
    counts = np.array([[5, 0, 0, 20, 0, 10, 0]])
    noise = generator_of("hardly clear").normal(0, 15, (TRIALS, tree.size))
    own = replace(distributions(counted(VALUES), 15.0), edges=edges, upper=70.0)
    own = replace(own, released=noise + tree.nodes(counts))
    ranges = named(own.estimates((0.5,)), "interquartile_range")
    shown = [each for each in ranges if each.value is not None]
    assert len(shown) > 200
    for each in shown:
        assert (each.lower or 0) <= (each.value or 0) <= (each.upper or 0)
    assert not too_often(missed(shown, 20.0))


def test_quantiles_of_whole_numbers_are_whole_and_within_the_bounds() -> None:
    edges = np.arange(0.0, 258.0)
    counts = np.zeros(257, dtype=np.int64)
    counts[[3, 7, 7, 256]] = 10, 20, 30, 40
    tree = BinTree(257)
    nodes = tree.nodes(counts[None]).astype(float)
    own = Distributions(
        nodes,
        edges,
        256.0,
        whole=True,
        deviation=1e-9,
        ratio=RATIO,
        lone_ratio=LONE,
        confidence=0.95,
        rows_per_unit=1,
        sampling=False,
    )
    (group,) = own.estimates((0.1, 0.3, 0.9))
    shown = {each.name: (each.value, each.lower, each.upper) for each in group[1:]}
    assert shown == {
        "quantile:0.1": (3.0, 3.0, 3.0),
        "quantile:0.3": (7.0, 7.0, 7.0),
        "quantile:0.9": (256.0, 256.0, 256.0),
        "median": (7.0, 7.0, 7.0),
        "interquartile_range": (249.0, 249.0, 249.0),
        "minimum": (3.0, 0.0, 3.0),
        "maximum": (256.0, 256.0, 256.0),
    }


EXTREMES = {"minimum": float(VALUES[0]), "maximum": float(VALUES[-1])}


@pytest.mark.parametrize("deviation", [2.0, 12.0, 40.0])
def test_the_end_of_an_extreme_misses_no_more_often_than_it_says(deviation: float) -> None:
    """Most bins at either end are empty, or have a row or two."""
    own = distributions(counted(VALUES), deviation, TRIALS)
    for name, truth in EXTREMES.items():
        shown = named(own.estimates((0.5,)), name)
        assert not too_often(missed(shown, truth)), name
        for each in shown:
            assert (each.lower or 0) <= (each.value or 0) <= (each.upper or 0)
            assert each.standard_deviation is None
            assert each.lower == 0.0 or name == "maximum"
            assert each.upper == 100.0 or name == "minimum"


def lone_ends(deviation: float) -> Distributions:
    """Return a thousand rows in one bin, a thousand in a later one, and none elsewhere."""
    counts = np.zeros(256, dtype=np.int64)
    counts[[99, 180]] = 1000, 1000
    return distributions(counts, deviation, TRIALS)


@pytest.mark.parametrize("deviation", [2.0, 12.0, 40.0])
def test_the_end_of_an_extreme_misses_as_often_as_it_says_where_one_edge_decides(
    deviation: float,
) -> None:
    law = stats.binom(TRIALS, MISSES)
    for part, holds in ((1.0, True), (0.75, False)):
        own = replace(lone_ends(deviation), lone_ratio=part * LONE)
        groups = own.estimates((0.5,))
        least, most = named(groups, "minimum"), named(groups, "maximum")
        low = sum((each.upper or 0) <= EDGES[99] for each in least)
        high = sum((each.lower or 0) >= EDGES[181] for each in most)
        for misses in (low, high):
            right = min(law.cdf(misses), law.sf(misses - 1)) > FALSE_ALARM
            assert right == holds, (part, misses)


def test_an_extreme_that_ends_at_the_first_edge_that_seems_to_have_rows_is_found_out() -> None:
    """Of a hundred empty edges some seem to: the end needs all later ones to."""
    own = lone_ends(12.0)
    reach = LONE * own.deviation * np.sqrt(BinTree(256).spread.sums)
    first = (own._running.sums - reach > 0).argmax(axis=1)
    assert too_often(int((first < 99).sum()))


def test_a_row_alone_is_hidden_by_noise_and_seen_without_it() -> None:
    counts = counted(VALUES)
    counts[[250, 251, 252]] = 0, 0, 1
    hidden = named(distributions(counts, 12.0, 50).estimates((0.5,)), "maximum")
    assert max(each.lower or 0 for each in hidden) < EDGES[252]
    (seen,) = named(distributions(counts, 1e-9).estimates((0.5,)), "maximum")
    assert (seen.lower, seen.upper) == (EDGES[252], 100.0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_maximum_in_the_last_bin_has_an_end_at_the_lower_edge_of_that_bin(whole: bool) -> None:
    """Without a row above the last edge, nothing says that the maximum is at that edge or above."""
    bins, deviation = 64, 3.0
    counts, tree = np.full((1, bins), 80), BinTree(bins)
    noise = generator_of("last bin").normal(0, deviation, (100, tree.size))
    own = replace(
        lone_ends(deviation),
        released=tree.nodes(counts) + noise,
        edges=np.arange(bins + 1.0),
        upper=63.0 if whole else 64.0,
        whole=whole,
    )
    for each in named(own.estimates(()), "maximum"):
        assert (each.lower, each.upper) == (63.0, own.upper)
        assert 63.0 <= (each.value or 0) <= own.upper
