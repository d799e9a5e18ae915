"""Test the numbers of a noise process: levels, guarantees, margins of error and values."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support.processes import gaussian, laplace

from penstock.accounting.calibration.levels import LAST_PURE, VERSION
from penstock.privacy import Target, TargetKind
from penstock.services.noise.process import CONFIDENCE

DELTA = 1e-6


def test_a_rung_is_found_again_by_the_level_that_it_is_shown_with() -> None:
    process = gaussian()
    for rung in (0, 1, 7, 300):
        shown = process.level(rung).value
        assert process.rung(Target(TargetKind.LEVEL, shown), DELTA) == rung


def test_the_rung_of_an_epsilon_is_the_least_noisy_that_keeps_it() -> None:
    process = gaussian()
    rung = process.rung(Target(TargetKind.EPSILON, 0.5), DELTA)
    assert process.guarantee(rung, DELTA).epsilon <= 0.5
    assert process.guarantee(rung - 1, DELTA).epsilon > 0.5


def test_a_margin_of_error_of_a_part_of_the_variance_is_smaller_by_its_root() -> None:
    process = gaussian()
    whole, part = process.error(200), process.error_of_part(200, Fraction(1, 4))
    assert whole.confidence == part.confidence == CONFIDENCE
    assert part.standard_deviation == pytest.approx(whole.standard_deviation / 2)
    assert part.half_width == pytest.approx(whole.half_width / 2, rel=0.01)


def test_values_are_steps_of_the_lattice() -> None:
    process = gaussian()
    steps = np.array([-3, 0, 2**40])
    expected = [step * float(process.mechanism.granularity) for step in steps.tolist()]
    assert process.values(5, steps).tolist() == expected


def test_only_generalized_gaussian_noise_has_a_power() -> None:
    assert (gaussian().power, gaussian().p) == (None, None)


def test_an_epsilon_of_an_older_laplace_query_is_its_pure_loss() -> None:
    target = Target(TargetKind.EPSILON, 1.0)
    older, present = laplace(LAST_PURE), laplace(VERSION)
    rungs = [kind.rung(target, DELTA) for kind in (older, present)]
    assert [kind.level(rung).value for kind, rung in zip((older, present), rungs, strict=True)] == [
        pytest.approx(100, rel=1e-3),
        pytest.approx(44.3, rel=1e-3),
    ]
    assert rungs[0] > rungs[1]
    kept = older.guarantee(rungs[0], DELTA)
    assert (kept.definition, kept.delta, kept.pure_epsilon) == ("pure", 0.0, kept.epsilon)
    read = present.guarantee(rungs[0], DELTA)
    assert (read.definition, read.delta, read.pure_epsilon) == ("approximate", DELTA, kept.epsilon)
    assert read.epsilon < 0.43
