"""Test the formula that numpy's binomial sampler decides by, before 2.5, beside the one used here.

Both against 60 digits, at every value where numpy uses it: more than 20 from the mode, and
not beyond 9 deviations.  What is compared is ``ln P(y)/P(m)``, ``m`` being the mode, so that
the difference is the relative error of a probability.  ``README.md`` of the package has the
numbers of ``MEASURED``.
"""

import re
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import penstock.randomness
from penstock.randomness.saddle_point import Floats, log_poisson, log_self, product, split

MEASURED = {
    (300, Fraction(3, 10)): (3.4e-3, 2e-14),
    (1_000, Fraction(3, 10)): (1.0e-3, 9e-14),
    (10_000, Fraction(3, 10)): (8.6e-5, 9e-13),
    (10_000, Fraction(1, 2)): (6.6e-5, 7e-13),
    (1_000_000, Fraction(1, 2)): (6.6e-7, 7e-11),
    (1_000_000_000, Fraction(1, 1000)): (2.7e-7, 1e-7),
}
"""By trials and chance, the worst relative errors of numpy's formula, and of it put right."""

TOLERANCE = 1e-13
README = Path(penstock.randomness.__file__).with_name("README.md")


def _numpy(
    y: Floats, n: int, p: float, signs: tuple[int, int] = (1, 1), head: float = 13680.0
) -> Floats:
    """Compute step 5.3 of Kachitvichyanukul, Schmeiser (1988) as it stands in numpy 2.4.

    There ``signs`` of the second pair of Stirling series are plus, in place of minus, and
    ``head`` is 13680, in place of 13860.
    """
    q, mode = 1 - p, np.floor(n * p + p)

    def series(x: Floats) -> Floats:
        square = x * x
        inner = 132 - (99 - 140 / square) / square
        return np.asarray((head - (462 - inner / square) / square) / x / 166320)

    high, low = y + 1, n - y + 1
    first, last = np.asarray(mode + 1), np.asarray(n + 1 - mode)
    body = (mode + 0.5) * np.log(first / high) + (n - mode + 0.5) * np.log(last / low)
    body += (y - mode) * np.log(low * p / (high * q))
    return np.asarray(
        body + series(first) + series(last) + signs[0] * series(high) + signs[1] * series(low)
    )


def _ours(y: Floats, n: int, chance: Fraction) -> Floats:
    """Return ``ln P(y)`` as ``binomial`` accepts by it."""
    total = np.full(len(y), float(n))
    center, rest = product(total, *split(chance))
    deviation = (y - center) - rest
    found = log_poisson(y, center, deviation) - log_self(total)
    return np.asarray(found + log_poisson(total - y, total - center, -deviation))


def _values(n: int, chance: Fraction) -> Floats:
    p = float(chance)
    variance = n * p * (1 - p)
    mode = np.floor(n * p + p)
    far = min(9 * variance**0.5, variance / 2 - 1)
    beside = np.unique(np.rint(np.geomspace(21, far, 60)))
    values = np.concatenate((mode - beside[::-1], mode + beside))
    return values[(values >= 0) & (values <= n)]


def _exact(y: float, n: int, chance: Fraction) -> mpmath.mpf:
    top, p = mpmath.mpf(n), mpmath.mpf(chance.numerator) / chance.denominator
    choices = mpmath.loggamma(top + 1) - mpmath.loggamma(y + 1) - mpmath.loggamma(top - y + 1)
    return choices + y * mpmath.log(p) + (top - y) * mpmath.log(1 - p)


def _worst(found: Floats, y: Floats, n: int, chance: Fraction, start: mpmath.mpf) -> float:
    with mpmath.workdps(60):
        return max(
            abs(float(_exact(value, n, chance) - start - mpmath.mpf(float(log))))
            for value, log in zip(y, found, strict=True)
        )


@pytest.mark.parametrize(("case", "measured"), MEASURED.items(), ids=str)
def test_numpys_formula_errs_by_more_than_is_charged_and_ours_does_not(
    case: tuple[int, Fraction], measured: tuple[float, float]
) -> None:
    n, chance = case
    wrong, corrected = measured
    y = _values(n, chance)
    with mpmath.workdps(60):
        mode = _exact(float(np.floor(n * float(chance) + float(chance))), n, chance)
    theirs = _worst(_numpy(y, n, float(chance)), y, n, chance, mode)
    ours = _worst(_ours(y, n, chance), y, n, chance, mpmath.mpf(0))
    assert theirs == pytest.approx(wrong, rel=0.05)
    assert ours <= TOLERANCE
    # With signs and number put right, floats are left to err, whose terms cancel.
    right = _worst(_numpy(y, n, float(chance), (-1, -1), 13860.0), y, n, chance, mode)
    assert corrected / 5 < right < 5 * corrected


def test_the_readme_has_these_numbers() -> None:
    number = r" ([\d.e-]+) \|"
    rows = re.findall(rf"\| ([\d,]+) \| ([\d/]+) \|{number}{number}", README.read_text())
    shown = {
        (int(n.replace(",", "")), Fraction(p)): (float(wrong), float(right))
        for n, p, wrong, right in rows
    }
    assert shown == MEASURED
