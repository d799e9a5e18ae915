"""Test that every reading of a release holds, has its known value, and says where it comes from."""

from fractions import Fraction

import pytest

from penstock.accounting import reading, readings
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS, Gaussian, Laplace, Poisson
from penstock.mechanisms.gaussian.curve import epsilon_at
from penstock.privacy import Sensitivity

FINE = Fraction(1, 2**12)
ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


def equal(count: int, shift: Fraction = Fraction(1)) -> Sensitivity:
    """Return ``count`` coordinates that move by ``shift`` each."""
    return Sensitivity(count * shift, count * shift**2, shift)


@pytest.mark.parametrize(
    ("count", "shift", "scale", "delta", "theorem", "tight"),
    [
        (1, 1, 1, 1e-6, 1, 0.999998),
        (4, 1, 2, 1e-3, 2, 1.984126),
        (16, 1, 16, 1e-6, 1, 0.945416),
        (100, 1, 50, 1e-6, 1.071304, 0.819357),
        (100, 1, 10, 1e-6, 5.756522, 4.692667),
        (400, 1, 100, 1e-5, 0.979705, 0.722155),
        (1000, 1, 300, 1e-9, 0.684170, 0.5637),
        (25, 1, 5, 0.1, 2.645966, 1.094030),
        (64, Fraction(1, 2), 20, 1e-4, 0.878386, 0.591541),
    ],
)
def test_laplace_readings_have_their_known_values(
    count: int, shift: Fraction, scale: int, delta: float, theorem: float, tight: float
) -> None:
    found = readings(Laplace(FINE), Fraction(scale), equal(count, Fraction(shift)), count, delta)
    assert [one.name for one in found] == ["guarantee", "theorem", "composed", "renyi", "pure"]
    assert found[4].epsilon == pytest.approx(float(count * shift) / scale)
    assert found[0].epsilon == min(found[1].epsilon, found[3].epsilon, found[4].epsilon)
    assert found[0].delta == (0 if found[0].epsilon == found[4].epsilon else delta)
    assert found[1].epsilon == pytest.approx(theorem, abs=6e-7)
    # The lattice of 2^-12 loses next to nothing more than continuous noise.
    assert found[2].epsilon == pytest.approx(tight, rel=2e-5 if tight != 0.5637 else 1e-4)
    assert found[2].epsilon <= found[1].epsilon * (1 + 1e-12)


def test_no_reading_is_above_a_theorem_where_l2_is_all_that_is_small() -> None:
    declared = Sensitivity(Fraction(100), Fraction(100), Fraction(10))
    for scale in (20, 100, 1000):
        found = {
            one.name: one.epsilon
            for one in readings(Laplace(FINE), Fraction(scale), declared, 100, 1e-6)
        }
        assert found["composed"] <= found["theorem"] <= found["pure"] * (1 + 1e-12)
        assert found["composed"] <= found["guarantee"] <= found["theorem"]


@pytest.mark.parametrize(
    ("mean", "bound", "exact"),
    [
        (500, 1.0384, 0.1789),
        (1_000, 0.5683, 0.1210),
        (5_000, 0.1551, 0.04979),
        (20_000, 0.05750, 0.02336),
    ],
)
def test_poisson_readings_have_their_known_values(mean: int, bound: float, exact: float) -> None:
    found = readings(Poisson(Fraction(1)), Fraction(mean), ONE, 1, 1e-6)
    assert [one.name for one in found] == ["guarantee", "theorem", "simplified"]
    assert found[0].epsilon == pytest.approx(exact, rel=4e-4)
    assert found[1].epsilon == pytest.approx(bound, rel=4e-4)
    assert found[1].epsilon < found[2].epsilon


def test_the_simplified_reading_is_for_norms_of_one_step() -> None:
    law, level = Poisson(Fraction(1, 2)), Fraction(1_000)
    assert reading("simplified", law, level, equal(1, Fraction(1, 2)), 1, 1e-6).epsilon > 0
    with pytest.raises(InvalidInput, match=r"at most one step of the noise's lattice, 0\.5"):
        reading("simplified", law, level, ONE, 1, 1e-6)


@pytest.mark.parametrize(
    ("mean", "normal"), [(500, 0.1679), (1_000, 0.1159), (5_000, 0.04891), (20_000, 0.02316)]
)
def test_gaussian_noise_of_equal_variance_has_its_known_epsilon(mean: int, normal: float) -> None:
    law = Gaussian(FINE)
    found = reading("guarantee", law, Fraction(mean), ONE, 1, 1e-6)
    assert found.epsilon == pytest.approx(normal, rel=4e-4)


@pytest.mark.parametrize("mu", [0.01, 0.5, 3.0, 12.0])
def test_gaussian_readings_hold_and_the_one_shown_is_the_least(mu: float) -> None:
    level = Fraction(1 / mu**2)
    found = {one.name: one for one in readings(Gaussian(FINE), level, ONE, 1, 1e-6)}
    exact = epsilon_at(1e-6, mu)
    assert exact <= found["guarantee"].epsilon <= exact * (1 + 1e-4)
    assert found["guarantee"].epsilon < found["renyi"].epsilon < found["zcdp"].epsilon


def test_a_coarse_lattice_is_charged_in_the_gaussian_reading() -> None:
    fine, coarse = (
        reading("guarantee", Gaussian(step), Fraction(9), ONE, 1, 1e-6).epsilon
        for step in (FINE, Fraction(1))
    )
    assert coarse == pytest.approx(epsilon_at(1e-6 / (1 + 4 / 9), 1 / 3))
    assert coarse > 1.01 * fine


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_the_reading_that_is_shown_is_the_mechanisms_own_guarantee(name: str) -> None:
    law = MECHANISMS[name](Fraction(1, 16))
    found = readings(law, Fraction(5000), equal(4), 4, 1e-6)
    assert [one.shown for one in found] == [True, *[False] * (len(found) - 1)]
    assert found[0].epsilon == law.guarantee(Fraction(5000), equal(4), 1e-6).epsilon
    assert all(one.source for one in found)


def test_a_theorem_whose_condition_fails_is_refused_where_asked_for_and_else_left_out() -> None:
    law = Poisson(Fraction(1))
    assert [one.name for one in readings(law, Fraction(300), ONE, 1, 1e-6)] == ["guarantee"]
    with pytest.raises(InvalidInput, match=r"from a mean of .* = 370\.7.* this one is 300"):
        reading("theorem", law, Fraction(300), ONE, 1, 1e-6)


def test_an_unknown_reading_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InvalidInput, match="guarantee, theorem, composed, renyi, pure"):
        reading("zcdp", Laplace(FINE), Fraction(1), ONE, 1, 1e-6)
