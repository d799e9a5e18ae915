"""Test the facts on which the lattice Gaussian rests, recomputed with 60 digits."""

import pytest
from mpmath import mp, mpf

REACH = 14
"""Standard deviations beyond which terms are below 1e-42."""


def _weight(value: mpf, deviation: mpf) -> mpf:
    return mp.exp(-(value**2) / (2 * deviation**2))


def _mass(deviation: mpf, center: mpf | int = 0) -> mpf:
    """Return the normalizer of the discrete Gaussian with a real center."""
    reach = int(REACH * deviation) + 2
    middle = int(mp.nint(center))
    return mp.fsum(
        _weight(value - center, deviation) for value in range(middle - reach, middle + reach + 1)
    )


def _sum_error(first: mpf, second: mpf, value: int) -> mpf:
    """Return the log-probability error of ``value`` if two draws' sum passes for one draw."""
    both = mp.sqrt(first**2 + second**2)
    reach = int(REACH * min(first, second)) + abs(value) + 2
    summed = mp.fsum(
        _weight(mpf(part), first) * _weight(mpf(value - part), second)
        for part in range(-reach, reach + 1)
    )
    drawn = summed / (_mass(first) * _mass(second))
    return abs(mp.log(drawn / (_weight(mpf(value), both) / _mass(both))))


def _bridge_error(first: mpf, second: mpf, value: int, part: int) -> mpf:
    """Return the log-probability error of a value and a bridge to it, against two increments."""
    both = mp.sqrt(first**2 + second**2)
    weight = first**2 / both**2
    spread = first * second / both
    center = weight * value
    bridged = _weight(part - center, spread) / _mass(spread, center)
    end = _weight(mpf(value), both) / _mass(both)
    steps = _weight(mpf(part), first) * _weight(mpf(value - part), second)
    return abs(mp.log(end * bridged / (steps / (_mass(first) * _mass(second)))))


def _bound(first: mpf, second: mpf) -> mpf:
    narrow = first * second / mp.sqrt(first**2 + second**2)
    return 4 * mp.exp(-2 * mp.pi**2 * narrow**2)


@pytest.mark.parametrize(
    ("first", "second"), [("1", "1"), ("0.9", "2"), ("1.5", "1.3"), ("3", "1")]
)
def test_sums_of_discrete_gaussians_are_one_up_to_the_stated_factor(
    first: str, second: str
) -> None:
    with mp.workdps(60):
        a, b = mpf(first), mpf(second)
        worst = max(_sum_error(a, b, value) for value in range(-6, 7))
        assert _bound(a, b) / 100 < worst < _bound(a, b)


@pytest.mark.parametrize(("first", "second"), [("1", "1"), ("0.9", "2"), ("1.5", "1.3")])
def test_bridges_of_discrete_gaussians_are_one_up_to_the_stated_factor(
    first: str, second: str
) -> None:
    with mp.workdps(60):
        a, b = mpf(first), mpf(second)
        errors = [_bridge_error(a, b, v, part) for v in range(-5, 6) for part in (-2, 0, 1)]
        assert _bound(a, b) / 100 < max(errors) < _bound(a, b)


def test_at_a_narrow_deviation_of_194_hundredths_the_error_is_below_2_to_the_minus_105() -> None:
    with mp.workdps(60):
        # two equal parts, the bridge between them being 1.94 wide
        part = mpf("1.94") * mp.sqrt(2)
        worst = max(_sum_error(part, part, value) for value in range(5))
        assert 0 < worst < mpf(2) ** -105


@pytest.mark.parametrize("deviation", ["0.5", "1", "4"])
@pytest.mark.parametrize("order", ["1.5", "2", "11"])
@pytest.mark.parametrize("shift", [1, 3])
def test_the_discrete_gaussian_has_the_real_ones_renyi_divergence_at_most(
    deviation: str, order: str, shift: int
) -> None:
    with mp.workdps(60):
        sigma, alpha = mpf(deviation), mpf(order)
        reach = int((REACH + float(alpha) * shift) * max(sigma, 1)) + 2
        total = mp.fsum(
            _weight(mpf(value), sigma) ** alpha * _weight(mpf(value - shift), sigma) ** (1 - alpha)
            for value in range(-reach * 2, reach * 2)
        )
        divergence = mp.log(total / _mass(sigma)) / (alpha - 1)
        real = alpha * shift**2 / (2 * sigma**2)
        assert divergence <= real * (1 + mpf(10) ** -40)
        if sigma >= 4:
            assert divergence == pytest.approx(real, rel=1e-30)
