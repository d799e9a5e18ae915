"""Write numbers for charts and for the tables beside them.

Thousands are separated by commas, the minus sign is a real one, and a value has the digits that
its interval justifies.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ....figures import PLAIN_BELOW, decimals, fixed, short
from .values import Interval

LONGEST = 14
MOST_PLACES = 7
SIGNIFICANT = 6
LARGEST_LABEL = 1e7
SMALLEST_LABEL = 1e-4
TWO_DIGITS = 3.54
"""Largest leading digits of a margin of error that is written with two significant digits."""

FINE = 1e4
"""Multiple of the step from which a number has too many digits for scientific notation."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Digits:
    """Hold the format of a column of numbers: its decimals, or its significant digits.

    In a ``whole`` column, whose values are whole numbers, no whole number has decimals.
    """

    decimals: int
    significant: int = 0
    whole: bool = False

    def write(self, value: float) -> str:
        """Return ``value`` as text."""
        if self.whole and float(value).is_integer():
            return signed(fixed(value, 0))
        if not value or not self.significant:
            return signed(fixed(value, self.decimals))
        if SMALLEST_LABEL <= abs(value) < 10.0**self.significant:
            return signed(f"{value:,.{self.significant}g}")
        return scientific(value, abs(value) * 10.0 ** (1 - self.significant))

    def range(self, interval: Interval) -> str:
        """Return an interval's ends as text."""
        return f"{self.write(interval.lower)} to {self.write(interval.upper)}"


def digits_of(intervals: Iterable[Interval]) -> Digits:
    """Return the digits for a column: those that the smallest half width justifies.

    These are two significant digits of it, and one if it begins with more than ``TWO_DIGITS``, as
    the Particle Data Group rounds.
    If that takes more than ``LONGEST`` digits, each value gets ``SIGNIFICANT`` digits instead.
    """
    listed = list(intervals)
    widths = [interval.half_width for interval in listed if interval.half_width > 0]
    largest = max(
        (max(abs(interval.lower), abs(interval.upper)) for interval in listed), default=0.0
    )
    whole = all(float(interval.value).is_integer() for interval in listed)
    if not widths:
        return Digits(0) if whole and largest < PLAIN_BELOW else Digits(0, SIGNIFICANT)
    places = _places(min(widths))
    before = max(math.floor(math.log10(largest)), 0) + 1
    if places > MOST_PLACES or before + places > LONGEST:
        return Digits(0, SIGNIFICANT)
    return Digits(places, whole=whole and places > 0)


def _places(half_width: float) -> int:
    places = decimals(half_width)
    leading = half_width / 10.0 ** math.floor(math.log10(half_width))
    return max(places - (leading > TWO_DIGITS), 0)


def loss(epsilon: float | None) -> str:
    """Return an epsilon as text; None is an unbounded loss."""
    return "unbounded" if epsilon is None else signed(short(epsilon))


def share(fraction: float) -> str:
    """Return a fraction as a percentage, to a tenth of a percent if it is small."""
    if not fraction:
        return "0%"
    if abs(fraction) < 0.0005:
        return "<0.1%" if fraction > 0 else ">−0.1%"
    places = 1 if abs(fraction) < 0.0995 else 0
    return signed(f"{fixed(100 * fraction, places)}%")


def tick(value: float, step: float) -> str:
    """Return the label of a number on an axis whose ticks are ``step`` apart."""
    if not value or abs(value) < step * 1e-6:
        return "0"
    fine = step * FINE <= abs(value) < PLAIN_BELOW
    if step >= SMALLEST_LABEL and (fine or abs(value) < LARGEST_LABEL):
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        return signed(fixed(value, places))
    return scientific(value, step)


def scientific(value: float, step: float = 0.0) -> str:
    """Return ``value`` in scientific notation, with the digits that a step needs."""
    power = math.floor(math.log10(abs(value)) + 1e-12)
    needed = power - math.floor(math.log10(step) + 1e-9) if step else 0
    mantissa, written = f"{value:.{min(max(needed, 0), 8)}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    raised = str(int(written)).translate(_RAISED)
    if mantissa in ("1", "-1"):
        return signed(mantissa[:-1]) + f"10{raised}"
    return f"{signed(mantissa)}×10{raised}"


def counted(number: int, noun: str, more: str = "") -> str:
    """Return a count with its noun: ``1 group``, ``1,000 groups``."""
    return f"{number:,} {noun if number == 1 else more or noun + 's'}"


def signed(text: str) -> str:
    """Return ``text`` with a minus sign for each hyphen."""
    return text.replace("-", "−")
