"""Provide shapes of JSON documents, and how a document differs from one.

A shape is an object's fields with their shapes, a list with the shape of its items (of
which there is at least one), or a question about one value.  A document may have more
fields than its shape: scripts rely on those that they know.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

Shape: TypeAlias = "Mapping[str, Shape] | Sequence[Shape] | Callable[[object], bool]"


def text(found: object) -> bool:
    """Return some characters."""
    return isinstance(found, str) and found != ""


def maybe_text(found: object) -> bool:
    """Return characters or null."""
    return found is None or text(found)


def maybe_empty(found: object) -> bool:
    """Return a text that may be empty, as the pointer to a whole document is."""
    return isinstance(found, str)


def number(found: object) -> bool:
    """Return a finite number; JSON writes whole ones in either form."""
    return isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)


def positive(found: object) -> bool:
    """Return a number above 0."""
    return isinstance(found, int | float) and number(found) and found > 0


def count(found: object) -> bool:
    """Return a whole number from 0."""
    return isinstance(found, int) and not isinstance(found, bool) and found >= 0


def flag(found: object) -> bool:
    """Return true or false."""
    return isinstance(found, bool)


def nothing(found: object) -> bool:
    """Return null: the field is there, and has no value yet."""
    return found is None


def moment(found: object) -> bool:
    """Return a time in UTC (RFC 3339)."""
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z"
    return isinstance(found, str) and re.fullmatch(form, found) is not None


def digest(found: object) -> bool:
    """Return a SHA-256 in hexadecimal digits."""
    return isinstance(found, str) and re.fullmatch(r"[0-9a-f]{64}", found) is not None


def mapping(found: object) -> bool:
    """Return an object with something in it, whose fields are not the contract's."""
    return isinstance(found, dict) and bool(found)


def a_list(found: object) -> bool:
    """Return a list of items of any kind."""
    return isinstance(found, list)


def exactly(value: object) -> Callable[[object], bool]:
    """Return a question that only this value answers."""

    def same(found: object) -> bool:
        return found == value

    return same


def differences(found: object, shape: Shape, place: str = "") -> Iterator[str]:
    """Yield where ``found`` is not as ``shape`` says: a JSON pointer, and what is wrong there."""
    if isinstance(shape, Mapping):
        if not isinstance(found, dict):
            yield f"{place or '/'} is no object: {found!r}"
            return
        for name, inner in shape.items():
            if name in found:
                yield from differences(found[name], inner, f"{place}/{name}")
            else:
                yield f"{place}/{name} is missing"
    elif isinstance(shape, Sequence):
        if not isinstance(found, list) or not found:
            yield f"{place or '/'} is no list with something in it: {found!r}"
            return
        (inner,) = shape
        for index, item in enumerate(found):
            yield from differences(item, inner, f"{place}/{index}")
    elif not shape(found):
        yield f"{place or '/'} is {found!r}, not {shape.__name__}"


def variants(document: object) -> Iterator[tuple[str, object]]:
    """Yield every document that lacks one field, or holds what no shape allows in its place.

    Of lists, only the first item is changed.
    """
    if isinstance(document, Mapping):
        for name, value in document.items():
            rest = {other: kept for other, kept in document.items() if other != name}
            yield f"without {name}", rest
            for how, changed in variants(value):
                yield f"{name} {how}", {**document, name: changed}
    elif isinstance(document, list):
        yield "empty", []
        for how, changed in variants(document[0]):
            yield f"0 {how}", [changed, *document[1:]]
    else:
        yield "of another kind", object()
