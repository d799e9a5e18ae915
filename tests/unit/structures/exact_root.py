"""Provide the square root's matrices in exact fractions."""

from fractions import Fraction

from penstock.structures.streams.root_matrices import (
    DIGITS,
    strategy,
)


def exact_decoder(length: int) -> list[Fraction]:
    """Return ``1 / ((1 - x) R(x))``, in fractions."""
    entries = [Fraction(int(entry), 1 << DIGITS) for entry in strategy(length)]
    found: list[Fraction] = []
    for place in range(length):
        known = (entries[i] * found[place - i] for i in range(1, place + 1))
        found.append(1 - sum(known, Fraction(0)))
    return found
