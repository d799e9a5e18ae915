"""Vectors that are pushed: exact values on a declared lattice, a sensitivity vouched for.

A value that breaks the declared step or bound is refused, and only its place is named.
No hash over values is made here, keyed or not.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.plan import LARGEST_TOTAL
from penstock.connectors.prepare import PreparedQuery
from penstock.connectors.refusals import pointer
from penstock.connectors.schema import STEPS, check_schema, step_of
from penstock.connectors.specs import MOST_KEYS, AssertedSensitivity, DatasetSpec, PushedVector
from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity

Vector = Sequence[int | float] | NDArray[np.int64] | NDArray[np.float64]


def prepare_vector(dataset: DatasetSpec, query: PushedVector) -> PreparedQuery:
    """Fix keys, lattice, range and asserted sensitivity; values are counted, not looked at.

    Raises ``InvalidInput`` with the pointer of what cannot be meant.
    """
    check_schema(dataset)
    if dataset.source.engine != "vector":
        raise InvalidInput(
            f"The server reads the data of {dataset.name} itself; send an aggregate, or name"
            " a dataset whose source is vector.",
            pointer=pointer("dataset"),
        )
    dimension = len(query.values)
    _check_dimension(dimension)
    if query.keys is not None and len(query.keys) != dimension:
        raise InvalidInput(
            f"There are {len(query.keys)} keys and {dimension} values; send as many of both.",
            pointer=pointer("keys"),
        )
    step = step_of(query.step)
    if step is None:
        raise InvalidInput(STEPS, pointer=pointer("step"))
    bound = Fraction(query.bound)
    most = min(step, Fraction(1)) * LARGEST_TOTAL
    if not step <= bound <= most:
        raise InvalidInput(
            f"The bound is {float(bound):g}; with step {float(step):g} it lies between"
            f" {float(step):g} and {float(most):g}.",
            pointer=pointer("bound"),
        )
    return PreparedQuery(
        keys=query.keys,
        dimension=dimension,
        step=step,
        bound=bound,
        sensitivity=_asserted(query.sensitivity, step),
    )


def vector_steps(values: Vector, step: Fraction, bound: Fraction) -> NDArray[np.int64]:
    """Count each value in steps, exactly: shape ``(len(values),)``.

    ``step`` is a power of two or an integer.  Raises ``InvalidInput`` with the pointer of
    the first value that is no finite number, no multiple of ``step``, or above ``bound``
    in absolute value; the value itself is not repeated.
    """
    _check_dimension(len(values))
    if isinstance(values, np.ndarray):
        return _steps_of_array(values, step, bound)
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        first = next(place for place, value in enumerate(values) if type(value) not in (int, float))
        raise _refused(first, "is no number")
    if kinds == {int}:
        return _steps_of_integers(_int64(values, bound), step, bound)
    if kinds == {float}:
        return _steps_of_floats(np.array(values, dtype=np.float64), step, bound)
    return _steps_of_both(list(values), step, bound)


def _steps_of_both(values: list[int | float], step: Fraction, bound: Fraction) -> NDArray[np.int64]:
    whole = np.fromiter((type(value) is int for value in values), dtype=np.bool_)
    integers, floats = np.flatnonzero(whole), np.flatnonzero(~whole)
    steps = np.zeros(len(values), dtype=np.int64)
    exact = _int64([values[place] for place in integers.tolist()], bound, integers)
    steps[integers] = _steps_of_integers(exact, step, bound, integers)
    real = np.array([values[place] for place in floats.tolist()], dtype=np.float64)
    steps[floats] = _steps_of_floats(real, step, bound, floats)
    return steps


def _check_dimension(dimension: int) -> None:
    if not 1 <= dimension <= MOST_KEYS:
        raise InvalidInput(
            f"A vector has 1 to {MOST_KEYS} values; this one has {dimension}.",
            pointer=pointer("values"),
        )


def _asserted(sent: AssertedSensitivity, step: Fraction) -> Sensitivity:
    l1 = Fraction(sent.l1)
    l2 = l1 if sent.l2 is None else Fraction(sent.l2)
    linf = l2 if sent.linf is None else Fraction(sent.linf)
    for name, value in (("l1", l1), ("l2", l2), ("linf", linf)):
        if value < step:
            raise InvalidInput(
                f"{name} is {float(value):g}, below the step, {float(step):g}: values that are"
                " multiples of the step move by at least one of it.",
                pointer=pointer("sensitivity", name),
            )
    return Sensitivity(l1=l1, l2_squared=l2 * l2, linf=linf)


def _refused(place: int, what: str) -> InvalidInput:
    return InvalidInput(f"The value at place {place} {what}.", pointer=pointer("values", place))


def _check(good: NDArray[np.bool_], what: str, places: NDArray[np.intp] | None) -> None:
    if not good.all():
        first = int(np.argmin(good))
        raise _refused(first if places is None else int(places[first]), what)


def _int64(
    values: Sequence[int | float], bound: Fraction, places: NDArray[np.intp] | None = None
) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        good = np.fromiter((abs(value) <= bound for value in values), dtype=np.bool_)
        _check(good, _above(bound), places)
        raise


def _steps_of_array(
    values: NDArray[np.int64] | NDArray[np.float64], step: Fraction, bound: Fraction
) -> NDArray[np.int64]:
    if values.ndim == 1 and values.dtype == np.int64:
        return _steps_of_integers(values.astype(np.int64), step, bound)
    if values.ndim == 1 and values.dtype == np.float64:
        return _steps_of_floats(values.astype(np.float64), step, bound)
    raise InvalidInput(
        "A vector has one dimension, and holds 64-bit integers or floats.",
        pointer=pointer("values"),
    )


def _steps_of_integers(
    values: NDArray[np.int64],
    step: Fraction,
    bound: Fraction,
    places: NDArray[np.intp] | None = None,
) -> NDArray[np.int64]:
    limit = min(int(bound), 2**63 - 1)
    _check((values >= -limit) & (values <= limit), _above(bound), places)
    if step.denominator > 1:
        # At most bound / step, which registration keeps within 2^62.
        return values * np.int64(step.denominator)
    if step > limit:
        _check(values == 0, _between(step), places)
        return values
    steps, left = np.divmod(values, np.int64(step.numerator))
    _check(left == 0, _between(step), places)
    return steps


def _steps_of_floats(
    values: NDArray[np.float64],
    step: Fraction,
    bound: Fraction,
    places: NDArray[np.intp] | None = None,
) -> NDArray[np.int64]:
    _check(np.isfinite(values), "is no finite number", places)
    limit = np.nextafter(float(bound), np.inf)
    _check(np.abs(values) <= limit, _above(bound), places)
    # Multiplying by a power of two is exact, and stays below 2^63 by the line above.
    scaled = values * float(step.denominator)
    whole = np.rint(scaled)
    _check(whole == scaled, _between(step), places)
    parts = whole.astype(np.int64)
    most = int(bound * step.denominator)
    _check((parts >= -most) & (parts <= most), _above(bound), places)
    return _steps_of_integers(parts, Fraction(step.numerator), bound * step.denominator, places)


def _above(bound: Fraction) -> str:
    return f"is above the declared bound, {float(bound):g}, in absolute value"


def _between(step: Fraction) -> str:
    return f"is no multiple of the step, {float(step):g}"
