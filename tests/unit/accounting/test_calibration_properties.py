"""Test that whatever is asked for, what comes back keeps it, and no rung with less noise does."""

import math
from fractions import Fraction

import pytest
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st

from penstock.accounting import level_for, rung_for
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS, Mechanism
from penstock.privacy import Ladder, Sensitivity, Target, TargetKind

BOUND = Fraction(2**20)
# Shrinking would try hundreds of exact curves, for a number that is plain already.
QUICK = settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.generate))


@st.composite
def sensitivities(draw: st.DrawFn) -> Sensitivity:
    """Draw whole norms that some vector has, of whole steps."""
    linf = draw(st.integers(1, 4))
    count = draw(st.integers(1, 6))
    rest = draw(st.integers(0, linf - 1))
    return Sensitivity(
        Fraction(count * linf + rest), Fraction(count * linf**2 + rest**2), Fraction(linf)
    )


def spread(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def targets(name: str) -> st.SearchStrategy[Target]:
    noises = st.builds(Target, st.just(TargetKind.STANDARD_DEVIATION), spread(2, 1e3))
    losses = st.builds(Target, st.just(TargetKind.EPSILON), spread(0.1, 20))
    if name != "gaussian":
        return losses | noises
    rho = st.builds(Target, st.just(TargetKind.RHO), spread(1e-5, 50))
    mu = st.builds(Target, st.just(TargetKind.MU), spread(1e-3, 10))
    return losses | noises | rho | mu


def widths() -> st.SearchStrategy[Target]:
    return st.builds(
        Target, st.just(TargetKind.HALF_WIDTH), spread(2, 1e3), confidence=st.floats(0.2, 0.999)
    )


def kept(
    mechanism: Mechanism, level: Fraction, target: Target, sensitivity: Sensitivity, delta: float
) -> bool:
    """Read from the mechanism itself, not from what calibration makes of it."""
    if target.kind in (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH):
        bars = mechanism.error(level, target.confidence)
        has = {
            TargetKind.STANDARD_DEVIATION: bars.standard_deviation,
            TargetKind.HALF_WIDTH: bars.half_width,
        }[target.kind]
        return has >= target.value
    promise = mechanism.guarantee(level, sensitivity, delta)
    lost = {
        TargetKind.EPSILON: promise.epsilon,
        TargetKind.RHO: promise.rho,
        TargetKind.MU: promise.mu,
    }[target.kind]
    return lost is not None and lost <= target.value


def planned(
    name: str, target: Target, sensitivity: Sensitivity, delta: float
) -> tuple[Mechanism, Ladder, Fraction]:
    family = MECHANISMS[name]
    try:
        level = level_for(family(Fraction(1)), target, sensitivity, delta)
        mechanism, ladder = family.plan(level, Fraction(1), BOUND)
        ladder.rung_at_or_above(level)
    except InvalidInput:
        reject()
    return mechanism, ladder, level


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MECHANISMS))
@QUICK
@given(data=st.data(), sensitivity=sensitivities(), delta=spread(1e-10, 1e-3))
def test_the_achieved_never_exceeds_the_target_and_the_rung_before_does(
    name: str, data: st.DataObject, sensitivity: Sensitivity, delta: float
) -> None:
    target = data.draw(targets(name))
    mechanism, ladder, level = planned(name, target, sensitivity, delta)
    assert kept(mechanism, level, target, sensitivity, delta)
    rung = rung_for(mechanism, ladder, target, sensitivity, delta)
    assert kept(mechanism, ladder.value(rung), target, sensitivity, delta)
    if rung > 0:
        assert not kept(mechanism, ladder.value(rung - 1), target, sensitivity, delta)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
@QUICK
@given(target=widths(), sensitivity=sensitivities())
def test_a_half_width_is_kept_and_one_part_in_fifty_less_noise_would_not(
    name: str, target: Target, sensitivity: Sensitivity
) -> None:
    # A half width ends on the lattice, so that it is a sawtooth of the level.
    mechanism, ladder, level = planned(name, target, sensitivity, 1e-6)
    assert kept(mechanism, level, target, sensitivity, 1e-6)
    rung = rung_for(mechanism, ladder, target, sensitivity, 1e-6)
    assert kept(mechanism, ladder.value(rung), target, sensitivity, 1e-6)
    half = mechanism.error(ladder.value(rung), target.confidence).half_width
    step = float(mechanism.granularity)
    assert half <= target.value * 1.02 + 2 * step or rung == 0
