"""Give tables a form that looks like counts: not negative, whole, with the total that was released.

A form is computed from a table of noisy counts alone, in the same way for every reader.  Nothing
can be computed back from it, and two marginals in a form need not agree in the columns that they
share; with ``total_preserving`` they agree in their total.
"""

from collections.abc import Collection
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class Form(StrEnum):
    """Name a form in which marginals are reported."""

    NONNEGATIVE = "nonnegative"
    WHOLE = "whole"
    TOTAL_PRESERVING = "total_preserving"


def reported(table: Numbers, forms: Collection[Form]) -> Numbers:
    """Return a table in all of ``forms`` together; without any it is the same.

    ``nonnegative`` raises negative numbers to 0.  If the total is kept, too, it is the nearest
    table of that total which is not negative (all 0 for a total below 0).  ``whole`` rounds each
    number to the nearest integer.  If the total is kept, that is rounded, and the numbers with the
    largest remainders are rounded up, the first of equal ones first.
    """
    numbers = table.ravel()
    keeps = Form.TOTAL_PRESERVING in forms
    total = float(numbers.sum())
    if Form.NONNEGATIVE in forms:
        total = max(total, 0.0)
        numbers = _on_simplex(numbers, total) if keeps else np.maximum(numbers, 0.0)
    if Form.WHOLE in forms:
        numbers = _largest_remainders(numbers, total) if keeps else np.rint(numbers)
    # Without the sum there would be a -0.0 for a small negative number.
    return numbers.reshape(table.shape) + 0.0


def _on_simplex(numbers: Numbers, total: float) -> Numbers:
    """Return the nearest numbers of at least 0 that sum to ``total``.

    Source: Held, Wolfe, Crowder (1974).
    """
    falling = np.sort(numbers)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    positive = np.flatnonzero(falling - shifts > 0)
    shift = shifts[positive[-1]] if len(positive) else falling[0]
    nearest: Numbers = np.maximum(numbers - shift, 0.0)
    return nearest


def _largest_remainders(numbers: Numbers, total: float) -> Numbers:
    whole = np.floor(numbers)
    missing = int(np.rint(total) - whole.sum())
    order = np.argsort(whole - numbers, kind="stable")
    whole[order[:missing]] += 1
    return whole
