"""Prepare pushed vectors: exact values on a declared lattice, with an asserted sensitivity.

A value that does not fit the declared step or bound is refused, and only its place is named.  No
hash over values is made here, keyed or not.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.plan import LARGEST_TOTAL
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import (
    MOST_KEYS,
    AssertedSensitivity,
    DatasetSpec,
    PushedVector,
    VectorSpec,
)
from penstock.connectors.specs.schema import STEPS, check_schema, step_of
from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity
from penstock.spec_fields import Number

Vector = Sequence[int | float] | NDArray[np.int64] | NDArray[np.float64]

# What is wrong with a value; 0 means nothing.
_NO_NUMBER, _NOT_FINITE, _ABOVE, _BETWEEN = range(1, 5)

_LARGEST = 2**63 - 1


def prepare_vector(dataset: DatasetSpec, query: VectorSpec) -> PreparedQuery:
    """Fix keys, lattice, range and asserted sensitivity; values are counted, not read.

    If values are left out, the keys are counted. Raises ``InvalidInput`` with the pointer of what
    is not valid.
    """
    check_schema(dataset)
    if dataset.source.engine != "vector":
        raise InvalidInput(
            f"The server reads the data of {dataset.name} itself; send an aggregate, or name"
            " a dataset whose source is vector.",
            pointer=pointer("dataset"),
        )
    if dataset.privacy_unit == "event":
        raise InvalidInput(
            f"The privacy unit of {dataset.name} is the event, which is for streams only: the"
            " losses of persons and of events do not add up. Use a dataset of units.",
            pointer=pointer("dataset"),
        )
    dimension = _dimension(query)
    _check_dimension(dimension)
    if query.keys is not None and len(query.keys) != dimension:
        raise InvalidInput(
            f"There are {len(query.keys)} keys and {dimension} values; send as many of both.",
            pointer=pointer("keys"),
        )
    step, bound = range_of(query.step, query.bound)
    return PreparedQuery(
        keys=query.keys,
        dimension=dimension,
        step=step,
        bound=bound,
        sensitivity=asserted(query.sensitivity, step),
    )


def vector_steps(values: Vector, step: Fraction, bound: Fraction) -> NDArray[np.int64]:
    """Count each value in steps, exactly: shape ``(len(values),)``.

    ``step`` is a power of two or an integer.  Raises ``InvalidInput`` with the pointer of
    the first value that is not a finite number, not a multiple of ``step``, or above ``bound``
    in absolute value; the value itself is not repeated.
    """
    _check_dimension(len(values))
    if isinstance(values, np.ndarray):
        steps, flaws = _of_array(values, step, bound)
    else:
        steps, flaws = _of_sequence(list(values), step, bound)
    if flaws.any():
        place = int(np.argmax(flaws != 0))
        raise InvalidInput(
            f"The value at place {place} {_words(int(flaws[place]), step, bound)}.",
            pointer=pointer("values", place),
        )
    return steps


def _dimension(query: VectorSpec) -> int:
    if isinstance(query, PushedVector):
        return len(query.values)
    if query.keys is None:
        raise InvalidInput(
            "Send keys or values: what a vector costs depends on how many values it has.",
            pointer=pointer("keys"),
        )
    return len(query.keys)


def _check_dimension(dimension: int) -> None:
    if not 1 <= dimension <= MOST_KEYS:
        raise InvalidInput(
            f"A vector has 1 to {MOST_KEYS} values; this one has {dimension}.",
            pointer=pointer("values"),
        )


def asserted(sent: AssertedSensitivity, step: Fraction) -> Sensitivity:
    """Return the sensitivity that the pusher asserts.  Raises ``InvalidInput`` below a step."""
    l1 = Fraction(sent.l1)
    l2 = None if sent.l2 is None else Fraction(sent.l2)
    linf = Fraction(sent.linf) if sent.linf is not None else l1 if l2 is None else l2
    for name, value in (("l1", l1), ("l2", l2), ("linf", linf)):
        if value is not None and value < step:
            raise InvalidInput(
                f"{name} is {float(value):g}, below the step, {float(step):g}: values that are"
                " multiples of the step move by at least one of it.",
                pointer=pointer("sensitivity", name),
            )
    # Hölder: no sum of squares is above the largest number times the sum of numbers.
    l2_squared = l1 * min(l1, linf) if l2 is None else l2 * l2
    return Sensitivity(l1=l1, l2_squared=l2_squared, linf=linf)


def range_of(step: Number, bound: Number) -> tuple[Fraction, Fraction]:
    """Return step and bound as they were declared, exactly.  Raises ``InvalidInput``."""
    exact = step_of(step)
    if exact is None:
        raise InvalidInput(STEPS, pointer=pointer("step"))
    limit = Fraction(bound)
    most = min(exact, Fraction(1)) * LARGEST_TOTAL
    if not exact <= limit <= most:
        raise InvalidInput(
            f"The bound is {float(limit):g}; with step {float(exact):g} it lies between"
            f" {float(exact):g} and {float(most):g}.",
            pointer=pointer("bound"),
        )
    return exact, limit


def _words(flaw: int, step: Fraction, bound: Fraction) -> str:
    return {
        _NO_NUMBER: "is not a number",
        _NOT_FINITE: "is not a finite number",
        _ABOVE: f"is above the declared bound, {float(bound):g}, in absolute value",
        _BETWEEN: f"is not a multiple of the step, {float(step):g}",
    }[flaw]


Counted = tuple[NDArray[np.int64], NDArray[np.uint8]]
"""The numbers of steps, and what is wrong with each value."""


def _of_array(
    values: NDArray[np.int64] | NDArray[np.float64], step: Fraction, bound: Fraction
) -> Counted:
    if values.ndim == 1 and values.dtype == np.int64:
        return _of_integers(values.astype(np.int64), step, bound)
    if values.ndim == 1 and values.dtype == np.float64:
        return _of_floats(values.astype(np.float64), step, bound)
    raise InvalidInput(
        "A vector has one dimension, and holds 64-bit integers or floats.",
        pointer=pointer("values"),
    )


def _of_sequence(values: list[int | float], step: Fraction, bound: Fraction) -> Counted:
    kinds = set(map(type, values))
    if kinds == {float}:
        return _of_floats(np.array(values, dtype=np.float64), step, bound)
    if kinds == {int}:
        return _of_whole(values, step, bound)
    steps = np.zeros(len(values), dtype=np.int64)
    flaws = np.full(len(values), _NO_NUMBER, dtype=np.uint8)
    whole = np.fromiter((type(value) is int for value in values), dtype=np.bool_)
    real = np.fromiter((type(value) is float for value in values), dtype=np.bool_)
    integers = [value for value in values if type(value) is int]
    floats = np.array([value for value in values if type(value) is float], dtype=np.float64)
    steps[whole], flaws[whole] = _of_whole(integers, step, bound)
    steps[real], flaws[real] = _of_floats(floats, step, bound)
    return steps, flaws


def _of_whole(values: Sequence[int | float], step: Fraction, bound: Fraction) -> Counted:
    try:
        return _of_integers(np.array(values, dtype=np.int64), step, bound)
    except OverflowError:
        wide = np.fromiter((abs(value) > _LARGEST for value in values), dtype=np.bool_)
    fitting = [0 if abs(value) > _LARGEST else value for value in values]
    steps, flaws = _of_integers(np.array(fitting, dtype=np.int64), step, bound)
    flaws[wide] = _ABOVE
    return steps, flaws


def _of_integers(values: NDArray[np.int64], step: Fraction, bound: Fraction) -> Counted:
    limit = min(int(bound), _LARGEST)
    flaws = np.where((values >= -limit) & (values <= limit), 0, _ABOVE).astype(np.uint8)
    values[flaws != 0] = 0
    if step.denominator > 1:
        # At most bound / step, which registration limits to 2^62.
        return values * np.int64(step.denominator), flaws
    steps, left = np.divmod(values, np.int64(step.numerator))
    flaws[left != 0] = _BETWEEN
    return steps, flaws


def _of_floats(values: NDArray[np.float64], step: Fraction, bound: Fraction) -> Counted:
    finite = np.isfinite(values)
    values[~finite] = 0
    within = np.abs(values) <= np.nextafter(float(bound), np.inf)
    values[~within] = 0
    # Multiplying by a power of two is exact, and stays below 2^63 by the line above.
    scaled = values * float(step.denominator)
    whole = np.rint(scaled)
    parts = Fraction(step.numerator), bound * step.denominator
    steps, flaws = _of_integers(whole.astype(np.int64), *parts)
    flaws[whole != scaled] = _BETWEEN
    flaws[~within] = _ABOVE
    flaws[~finite] = _NOT_FINITE
    return steps, flaws
