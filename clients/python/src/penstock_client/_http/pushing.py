"""Pushing elements to a stream: in parts, each taken in once.

The number of an element says which it is: the server takes only the next one.  So what it
has needs no second look, and what it lacks can be sent again.
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
"""Seconds before an answer that was lost is looked for; each time twice as long."""


def push(transport: Transport, path: str, elements: Elements, first: int | None) -> Pushed:
    """Take ``elements`` into the stream at ``path``; see ``Client.push``."""
    stream = _stream(transport, path)
    begin = stream.following if first is None else first
    skipped = stream.following - begin
    if begin < 1 or skipped < 0:
        raise InvalidArgument(
            f"The next element of {stream.name!r} is number {stream.following}, and these begin"
            f" with {begin}; push those between first."
        )
    sent = map(_element, elements)
    had = sum(1 for _ in islice(sent, skipped))
    number = begin + had
    for part in _parts(sent):
        _send(transport, path, number, part)
        number += len(part)
    if number == begin:
        raise InvalidArgument("There is no element to push.")
    after = stream.next if number <= stream.following else _stream(transport, path).next
    return Pushed(stream.name, begin, number - 1, after, had)


def elements_in(file: str, standard_input: TextIO) -> tuple[list[Element], int | None]:
    """The ``values`` that stand in a file, and the number of the first where it says it.

    Raises ``InvalidArgument`` where it cannot be read.
    """
    spec = spec_in(file, standard_input)
    values, first = spec.get("values"), spec.get("from")
    if not isinstance(values, list) or not (first is None or isinstance(first, int)):
        raise InvalidArgument(f'{file} must hold {{"from": NUMBER, "values": [...]}}.')
    return values, first


def _stream(transport: Transport, path: str) -> Stream:
    return Stream.read(Fields(transport.get(path), "stream"))


def _element(value: object) -> object:
    """An element as JSON can carry it: also numpy's numbers and rows."""
    listed = getattr(value, "tolist", None)
    plain = listed() if callable(listed) else value
    if isinstance(plain, Sequence) and not isinstance(plain, str):
        return [_number(number) for number in plain]
    return _number(plain)


def _number(value: object) -> float:
    listed = getattr(value, "tolist", None)
    value = listed() if callable(listed) else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer beyond all floats
            if math.isfinite(value):
                return value
    raise InvalidArgument(f"An element is made of finite numbers, not {value!r:.40}.")


def _parts(elements: Iterator[object]) -> Iterator[list[object]]:
    for element in elements:
        width = len(element) if isinstance(element, list) else 1
        most = max(1, NUMBERS_AT_ONCE // max(width, 1))
        yield list(chain([element], islice(elements, most - 1)))


def _send(transport: Transport, path: str, first: int, part: list[object]) -> None:
    """Have one part taken in, once, whatever happens to the answers."""
    body = {"from": first, "values": part}
    lost: PenstockError | None = None
    elsewhere = False
    for attempt in range(ATTEMPTS):
        try:
            if lost is not None:
                time.sleep(FIRST_PAUSE * 2**attempt)
                following = _stream(transport, path).following
                if following == first + len(part):
                    return
                elsewhere = following != first
            transport.post(f"{path}/elements", body)
        except (NotReachable, Unavailable) as error:
            lost = error
        except Conflict as error:
            # A request whose answer was lost may be taken in between asking and sending;
            # without a next number, levels changed meanwhile.
            if "next" in error.data and (lost is None or elsewhere):
                raise
            lost = error
        else:
            return
    if lost is not None:
        raise lost
