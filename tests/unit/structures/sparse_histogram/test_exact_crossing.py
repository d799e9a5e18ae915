"""Test the drawing of keys of count 0 under Laplace noise against enumerations of its law."""

import math
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.laplace_histogram import outcomes, patterns
from tests.unit.structures.small_histogram import keyed

from penstock.errors import InvalidInput, PenstockError
from penstock.mechanisms import Gaussian, Laplace
from penstock.privacy import Ladder
from penstock.randomness.bernoulli import PRECISION
from penstock.randomness.geometric import Geometric
from penstock.structures.sparse_histogram import LaplaceThresholds, SparseHistogram, Uint64
from penstock.structures.sparse_histogram.exact_crossing import (
    LARGEST_CHANCE,
    Bar,
    ExactCrossing,
    _successes,
)

UNITS = Laplace(Fraction(1))
"""Noise on the integers, where sums over the lattice are short."""

SCALES = (Fraction(2), Fraction(5, 2), Fraction(4))
BARS = tuple(Bar(scale, math.ceil(-float(scale) * math.log(LARGEST_CHANCE))) for scale in SCALES)
THRESHOLDS = [bar.threshold for bar in BARS]
PARAMETERS = [math.exp(-1 / float(scale)) for scale in SCALES]
REACH = 200


def law(count: int = 0) -> NDArray[np.float64]:
    return patterns(PARAMETERS, THRESHOLDS, count, REACH)


def test_a_bar_is_passed_as_often_as_the_lattice_law_says() -> None:
    marginals = law()
    for place, bar in enumerate(BARS):
        above = math.fsum(marginals[[at for at in range(8) if at >> place & 1]])
        assert float(bar.chance(Fraction(1))) == pytest.approx(above, rel=1e-10)


@pytest.mark.parametrize("new", range(3))
def test_three_steps_give_the_chance_of_a_silent_key(new: int) -> None:
    """Enumerate each step, from what the code takes for its chances, and multiply."""
    old = [bar for place, bar in enumerate(BARS) if place != new]
    crossing = ExactCrossing(UNITS, old, BARS[new])
    mass = {frozenset(i for i in range(3) if at >> i & 1): p for at, p in enumerate(law())}
    others = frozenset(range(3)) - {new}
    above = sum(p for passed, p in mass.items() if new in passed)
    silent_too = mass[frozenset({new})] / above
    silent = sum(p for passed, p in mass.items() if not passed & others)
    # A path is proposed once for every level that it passes, and accepted by one over their number.
    chosen, rest, accepted = [], 1.0, 0.0
    for place in range(2):
        part = float(crossing._part(place))
        chosen.append(rest * part)
        rest *= 1 - part
    some = float(crossing._sum())
    for own, share in zip(sorted(others), chosen, strict=True):
        passing = {passed: p for passed, p in mass.items() if own in passed}
        for passed, p in passing.items():
            accepted += share * p / sum(passing.values()) / len(passed & others)
    assert 1 - some * accepted == pytest.approx(silent, rel=1e-12)
    never = (1 - some) / (1 - some * accepted)
    found = float(crossing.candidate_chance) * silent_too * never
    assert found == pytest.approx(mass[frozenset({new})] / silent, rel=1e-9)


@pytest.mark.parametrize("places", [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("counts", [(0, 1), (3, 4), (12, 13)])
def test_what_two_tiers_pool_loses_what_the_better_one_does(
    places: tuple[int, int], counts: tuple[int, int]
) -> None:
    first, second = places
    levels = PARAMETERS[first], PARAMETERS[second]
    bars = THRESHOLDS[first], THRESHOLDS[second]
    one, other = (outcomes(levels, bars, count, REACH) for count in counts)
    ratios = np.abs(np.log(one[:90, :90]) - np.log(other[:90, :90]))
    assert ratios.max() == pytest.approx(1 / float(SCALES[first]), rel=1e-9)


def test_absent_keys_that_are_never_reported_lose_everything() -> None:
    """This is what is wrong with histograms of present keys alone: broken."""
    levels, bars = (PARAMETERS[0], PARAMETERS[1]), (THRESHOLDS[0], THRESHOLDS[1])
    present = outcomes(levels, bars, 1, REACH)
    absent = np.zeros_like(present)
    absent[0, 0] = 1.0
    with np.errstate(divide="ignore"):
        assert np.abs(np.log(present[:9, :9]) - np.log(absent[:9, :9])).max() == math.inf


def test_levels_drawn_apart_lose_more_than_the_better_one() -> None:
    """A key's noise at a new level must depend on its noise at the others: broken."""

    def apart(count: int) -> NDArray[np.float64]:
        joint = outcomes((PARAMETERS[0], PARAMETERS[1]), (THRESHOLDS[0], THRESHOLDS[1]), count, 200)
        product: NDArray[np.float64] = np.outer(joint.sum(1), joint.sum(0))
        return product

    ratios = np.abs(np.log(apart(0)[:90, :90]) - np.log(apart(1)[:90, :90]))
    assert ratios.max() > 1.7 / float(SCALES[0])


def test_gaps_count_successes_in_any_number_of_keys() -> None:
    gaps, streams = Geometric.at_rate(Fraction(1, 50)), keyed("gaps")
    chance = 1 - math.exp(-1 / 50)
    assert _successes(gaps, chance, 0, streams()) == 0
    runs = [_successes(gaps, chance, 3, streams()) for _ in range(3000)]
    assert set(runs) <= {0, 1, 2, 3}
    assert abs(np.mean(runs) - 3 * chance) < 6 * math.sqrt(3 * chance / 3000)
    many = [_successes(gaps, chance, 10**6, streams()) for _ in range(20)]
    assert abs(np.mean(many) - 10**6 * chance) < 6 * math.sqrt(10**6 * chance / 20)


def test_the_largest_domain_is_counted_in_blocks() -> None:
    chance = Fraction(200, 2**64)
    scale = Fraction(1)
    with localcontext(PRECISION):
        threshold = math.ceil(-math.log(float(chance)))
        bar = Bar(scale, threshold)
        expected = float(bar.chance(Fraction(1))) * 2**64
    crossing, streams = ExactCrossing(UNITS, [], bar), keyed("blocks")
    counts = [crossing.draw(2**64, streams()).shape[1] for _ in range(60)]
    assert abs(np.mean(counts) - expected) < 6 * math.sqrt(expected / 60)


def test_reported_keys_are_above_the_new_threshold_and_below_the_others() -> None:
    crossing = ExactCrossing(UNITS, [BARS[2], BARS[0]], BARS[1])
    noise = crossing.draw(10**5, keyed("rows")())
    assert noise.shape[0] == 3
    assert noise.shape[1] > 50
    assert noise[1].min() > BARS[1].threshold
    assert noise[0].max() <= BARS[0].threshold
    assert noise[2].max() <= BARS[2].threshold


def test_too_low_thresholds_are_refused() -> None:
    with pytest.raises(PenstockError, match="reported too often"):
        ExactCrossing(UNITS, [], Bar(Fraction(2), 3))
    bars = [Bar(Fraction(2) + Fraction(i, 100), 11) for i in range(70)]
    with pytest.raises(PenstockError, match="reported too often"):
        ExactCrossing(UNITS, bars, BARS[2])


def test_thresholds_of_other_noise_are_refused() -> None:
    ladder = Ladder(2, Fraction(1), 40, 8)
    thresholds = LaplaceThresholds(ladder, Fraction(1), 1 << 20, {0: 1.0})
    nothing = np.empty(0, dtype=np.uint64)
    with pytest.raises(InvalidInput, match="not those of gaussian noise"):
        SparseHistogram(Gaussian(Fraction(1)), thresholds, Uint64(1 << 20), nothing, nothing, 0)
