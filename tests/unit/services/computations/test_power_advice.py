"""Test which power is recommended: 1 or 2 for several levels, any for one."""

from fractions import Fraction

import pytest
from tests.unit.services.added_levels import SIZE, furnish, previewed
from tests.unit.worlds import CopyWorld, World

from penstock.accounting import best_power, power_choice
from penstock.privacy import Sensitivity


@pytest.fixture
def counts(copy_world: CopyWorld) -> World:
    """Return the world with one query of 64 counts with p = 4."""
    return copy_world("counts", furnish)


def test_a_preview_shows_the_expected_largest_error_of_every_tier(counts: World) -> None:
    seen = previewed(counts)
    law = Sensitivity(Fraction(SIZE), Fraction(SIZE), Fraction(1))
    for tier in seen.tiers:
        found = power_choice(Fraction(4), law, SIZE, tier.guarantee.epsilon, 1e-6)
        assert tier.expected_maximum == pytest.approx(found.expected_maximum, rel=2e-3)
    plain = previewed(counts, mechanism="gaussian", p=None)
    assert plain.powers is None
    assert {tier.expected_maximum for tier in plain.tiers} == {None}


@pytest.mark.slow
def test_where_tiers_differ_a_lossless_power_is_recommended(counts: World) -> None:
    advice = previewed(counts).powers
    assert advice is not None
    assert advice.recommended == 2
    errors = {one.p: one.expected_maximum for one in advice.choices}
    assert set(errors) == {1, 2, 4}
    assert errors[1] > errors[2]
    assert "3 levels" in advice.reason
    few = previewed(counts, values=[5, 5], sensitivity={"l1": 1}).powers
    assert few is not None
    assert few.recommended == 1


def test_for_one_level_the_power_with_the_least_largest_error_is_recommended(
    counts: World,
) -> None:
    advice = previewed(counts, levels={"public": {"epsilon": 1.0}}).powers
    assert advice is not None
    law = Sensitivity(Fraction(SIZE), Fraction(SIZE), Fraction(1))
    best = best_power(law, SIZE, advice.epsilon, 1e-6)
    assert advice.recommended == float(best.power) == 2.5
    errors = {one.p: one.expected_maximum for one in advice.choices}
    assert errors[2.5] == min(errors.values()) == pytest.approx(85.0, rel=2e-3)
    assert errors[2] == pytest.approx(87.7, rel=2e-3)
