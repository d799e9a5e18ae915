"""Push elements to a stream in parts, so that each is stored exactly once.

Elements are numbered, and the server accepts only the next number.  So elements that it has
are never stored again, and those that it lacks can be sent again.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import SupportsFloat, TextIO

from penstock_client._http.fields import Fields
from penstock_client._http.transport import Transport
from penstock_client.errors import (
    Conflict,
    InvalidArgument,
    NotReachable,
    PenstockError,
    Unavailable,
)
from penstock_client.preview import spec_in
from penstock_client.streams import Pushed, Stream

Element = SupportsFloat | Sequence[SupportsFloat]
Elements = Iterable[Element]

NUMBERS_AT_ONCE = 50_000
ATTEMPTS = 6
FIRST_PAUSE = 0.25
"""Seconds to wait after a lost answer before the stream is read; doubled at each attempt."""


def push(transport: Transport, path: str, elements: Elements, first: int | None) -> Pushed:
    """Push ``elements`` to the stream at ``path``; see ``Client.push``."""
    stream = _stream(transport, path)
    begin = stream.following if first is None else first
    skipped = stream.following - begin
    if begin < 1 or skipped < 0:
        raise InvalidArgument(
            f"The next element of {stream.name!r} is number {stream.following}, and these elements"
            f" begin with number {begin}; push the elements between first."
        )
    remaining = map(_element, elements)
    skipped = sum(1 for _ in islice(remaining, skipped))
    number = begin + skipped
    for part in _parts(remaining):
        _send(transport, path, number, part)
        number += len(part)
    if number == begin:
        raise InvalidArgument("There are no elements to push; pass at least one.")
    after = stream.next if number <= stream.following else _stream(transport, path).next
    return Pushed(stream.name, begin, number - 1, after, skipped)


def elements_in(file: str, standard_input: TextIO) -> tuple[list[Element], int | None]:
    """Read elements from a file: its ``values``, and ``from``, the number of the first, or None.

    Raises ``InvalidArgument`` if the file cannot be read.
    """
    spec = spec_in(file, standard_input)
    values, first = spec.get("values"), spec.get("from")
    if not isinstance(values, list) or not (first is None or isinstance(first, int)):
        raise InvalidArgument(f'{file} must contain {{"from": NUMBER, "values": [...]}}.')
    return values, first


def _stream(transport: Transport, path: str) -> Stream:
    return Stream.read(Fields(transport.get(path), "stream"))


def _element(value: object) -> object:
    """Convert an element, also numpy's numbers and rows, to what JSON can represent."""
    listed = getattr(value, "tolist", None)
    plain = listed() if callable(listed) else value
    if isinstance(plain, Sequence) and not isinstance(plain, str):
        return [_number(number) for number in plain]
    return _number(plain)


def _number(value: object) -> float:
    listed = getattr(value, "tolist", None)
    value = listed() if callable(listed) else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer larger than every float
            if math.isfinite(value):
                return value
    raise InvalidArgument(f"An element consists of finite numbers, not {value!r:.40}.")


def _parts(elements: Iterator[object]) -> Iterator[list[object]]:
    for element in elements:
        width = len(element) if isinstance(element, list) else 1
        most = max(1, NUMBERS_AT_ONCE // max(width, 1))
        yield list(chain([element], islice(elements, most - 1)))


def _send(transport: Transport, path: str, first: int, part: list[object]) -> None:
    """Send one part until the server has it; it is stored once, even if answers are lost."""
    body = {"from": first, "values": part}
    lost: PenstockError | None = None
    pushed_by_other = False
    for attempt in range(ATTEMPTS):
        try:
            if lost is not None:
                time.sleep(FIRST_PAUSE * 2**attempt)
                following = _stream(transport, path).following
                if following == first + len(part):
                    return
                pushed_by_other = following != first
            transport.post(f"{path}/elements", body)
        except (NotReachable, Unavailable) as error:
            lost = error
        except Conflict as error:
            # A request whose answer was lost may still have arrived, after the stream's next
            # number was read here.  A conflict without ``next`` means that levels changed
            # during the push: try again.
            if "next" in error.data and (lost is None or pushed_by_other):
                raise
            lost = error
        else:
            return
    if lost is not None:
        raise lost
