"""Test levels that are draws of their own: each has its law, and they say nothing of each other."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.special import gammaincinv
from tests.statistical.checks import Cells, accept, joint_chi_squared, rejects, uncorrelated
from tests.statistical.processes.paths import keyed_streams, zeros
from tests.statistical.sample_sizes import every_size

from penstock.mechanisms import GeneralizedGaussian, IntVector
from penstock.privacy import Ladder, Sensitivity
from penstock.services.noise.level_rule import drawn_at
from penstock.services.noise.process import Process

SIZE, LARGE = 1 << 17, 400_000
"""Another power needs 56,000 values over 12 x 12 x 12 cells (measured over 2^16, by
``sample_sizes``); 2^17 give each cell 75."""

POWER = 3
PARTS = 12
ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))

Drawn = Sequence[IntVector]


def _process() -> Process:
    mechanism, ladder = GeneralizedGaussian.of(POWER).plan(Fraction(4), Fraction(1), Fraction(10))
    return Process(mechanism, ladder, ONE)


def _rungs(ladder: Ladder) -> list[int]:
    """Return levels of 4, 5 and 16, so that neighbors would be easy to tie to each other."""
    return [ladder.rung_at_or_above(Fraction(level)) for level in (4, 5, 16)]


def _cells(process: Process, rung: int) -> Cells:
    """Return as many parts of equal probability, to within a step's."""
    scale = float(process.ladder.value(rung) / process.mechanism.granularity)
    places = np.arange(1, PARTS // 2) / (PARTS // 2)
    edges = scale * gammaincinv(1 / POWER, places) ** (1 / POWER)
    steps = np.rint([*-edges[::-1], 0, *edges]).astype(np.int64)
    return Cells(steps, np.full(PARTS, 1 / PARTS))


def _drawn(streams: Callable[[], object], size: int = SIZE) -> tuple[Process, Drawn]:
    process = _process()
    server = cast("Any", SimpleNamespace(randomness=streams))  # all that a draw asks for
    drawn = drawn_at(server, process, _rungs(process.ladder), zeros(size))
    return process, [noise for _, noise in drawn]


def _fits(process: Process, drawn: Drawn) -> float:
    """Return the P-value of all levels together against the product of their laws."""
    cells = [_cells(process, rung) for rung in _rungs(process.ladder)]
    return joint_chi_squared(drawn, cells)


@every_size
def test_the_levels_of_a_query_follow_their_laws_and_are_independent(*, large: bool) -> None:
    process, drawn = _drawn(keyed_streams("independent levels"), LARGE if large else SIZE)
    accept(_fits(process, drawn), "three independent levels")
    accept(uncorrelated(drawn), "their correlations")


def test_one_stream_for_all_levels_is_found_out() -> None:
    process, drawn = _drawn(lambda: keyed_streams("independent levels")())
    assert rejects(_fits(process, drawn))
    assert rejects(uncorrelated(drawn))


@pytest.mark.parametrize("power", [2.5, 4.0])
def test_the_law_of_another_power_is_found_out(power: float) -> None:
    process = _process()
    family = GeneralizedGaussian.of(power)(process.mechanism.granularity)
    other = Process(family, process.ladder, ONE)
    server = cast("Any", SimpleNamespace(randomness=keyed_streams("another power")))
    wrong = [noise for _, noise in drawn_at(server, other, _rungs(process.ladder), zeros(SIZE))]
    assert rejects(_fits(process, wrong))


def test_a_noisier_level_that_is_drawn_from_a_finer_one_is_found_out() -> None:
    process, (fine, middle, coarse) = _drawn(keyed_streams("independent levels"))
    assert rejects(_fits(process, [fine, fine + middle // 2, coarse]))
