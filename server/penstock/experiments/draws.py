"""Provide what drawn figures share: one guarantee, fixed keys, and a check of what is drawn."""

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from itertools import count

from penstock.privacy.sensitivity import Sensitivity
from penstock.randomness.stream import Stream

DELTA = 1e-6
UNIT_CHANGE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


def streams_of(label: str) -> Callable[[], Stream]:
    """Return streams of fixed keys, so that a figure can be made again."""
    numbers = count()
    return lambda: Stream.from_key(sha256(f"{label}/{next(numbers)}".encode()).digest())


def check(holds: bool, what: str) -> None:
    """Raise ``ArithmeticError`` if what is drawn does not have the law that is stated."""
    if not holds:
        raise ArithmeticError(f"What was drawn has another law: {what}.")
