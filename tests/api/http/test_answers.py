"""Test answers as JSON: views and vectors as they are, long lists in parts, times in UTC.

Long answers are streamed: the same bytes, and never whole in memory.
"""

import json
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import overload

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.http.answers import (
    BLOCK,
    LINES,
    MEDIA_TYPE,
    PART,
    STREAMED,
    blocks_of,
    json_answer,
    lines_answer,
    rendered,
)
from penstock.services.schemas.views import (
    ErrorsView,
    ErrorView,
    GuaranteeView,
    LevelView,
    MeanPartsView,
    ReleaseView,
)
from penstock.transparency_log.views import ReceiptView

STRANGE = [0.1, -0.0, 1e300, 5e-324, float("nan"), float("inf"), 2.0**53, 1 / 3]


@dataclass(frozen=True)
class View:
    name: str
    values: object


class Counted(Sequence[int]):
    """Represent a list of squares that is made as it is looked at, and never whole."""

    def __init__(self, length: int) -> None:
        self.length, self.largest = length, 0

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        if isinstance(place, int):
            return place * place
        places = range(*place.indices(self.length))
        self.largest = max(self.largest, len(places))
        return [number * number for number in places]


def test_views_vectors_and_fractions_have_their_plain_form() -> None:
    view = View("visits", np.array([1.5, -2.0]))
    assert json.loads(rendered(view)) == {"name": "visits", "values": [1.5, -2.0]}
    assert json.loads(rendered(Fraction(1, 4))) == 0.25
    assert json.loads(rendered(MappingProxyType({"a": 1}))) == {"a": 1}


def test_times_are_in_utc_with_a_z() -> None:
    assert rendered(datetime(2026, 11, 20, 12, tzinfo=UTC)) == b'"2026-11-20T12:00:00Z"'


@pytest.mark.parametrize("length", [0, 1, PART, PART + 1, 3 * PART])
def test_a_long_list_is_made_in_parts(length: int) -> None:
    squares = Counted(length)
    assert json.loads(rendered(squares)) == [number * number for number in range(length)]
    assert squares.largest <= PART


def test_what_has_no_form_in_json_is_an_error_of_the_program() -> None:
    with pytest.raises(TypeError, match="not JSON serializable: object"):
        rendered(object())


def test_answers_say_what_they_are() -> None:
    answer = json_answer(View("a", []), 201)
    assert (answer.status_code, answer.mimetype) == (201, MEDIA_TYPE)
    lines = lines_answer([View("a", 1), View("b", 2)])
    assert lines.mimetype == LINES
    assert [json.loads(line)["name"] for line in lines.data.splitlines()] == ["a", "b"]


def numbers(count: int) -> NDArray[np.float64]:
    """Return so many floats, of all lengths as text."""
    values = np.arange(count) / 7 - count / 9
    values[: len(STRANGE)] = STRANGE[:count]
    return values


def release(count: int, *, keys: object = None) -> ReleaseView:
    """Return a release of so many values, with everything that can be long."""
    error = ErrorView(1.5, 0.95, 3.0)
    parts = [numbers(count) + shift for shift in range(6)]
    return ReleaseView(
        id="00000000-0000-0000-0000-000000000000",
        query="größe",
        dataset="sites",
        tier="public",
        mechanism="gaussian",
        level=LevelView("variance", 0.1),
        guarantee=GuaranteeView("zcdp", 1.0, 1e-6, rho=0.5),
        granularity=0.25,
        keys=np.arange(count) if keys is None else keys,  # type: ignore[arg-type]  # lists of them
        values=parts[0],
        error=error,
        asserted_by=None,
        released_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
        receipt=ReceiptView(3, "ab", '{"v":2}', None),
        mean=MeanPartsView(parts[1], parts[2], 0.5, parts[3], error, parts[4], error),
        errors=ErrorsView(parts[5], parts[0]),
    )


VIEWS = {
    "positions": release(5 * PART + 3),
    "whole parts": release(2 * PART),
    "words": release(PART + 1, keys=[f'k"ö{place}' for place in range(PART + 1)]),
    "tuples": release(PART + 1, keys=[["a", str(place)] for place in range(PART + 1)]),
    "short": release(8),
    "none": release(0),
    "hashes": View("ranks", np.arange(PART + 1, dtype=np.uint64) + np.uint64(2**63)),
    "lazy": View("squares", Counted(3 * PART)),
    "views": [View("a", 1)] * (2 * PART),
    "nested": View("outer", View("inner", [View("a", list(range(PART + 1)))])),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
def test_a_streamed_answer_has_the_bytes_of_an_unstreamed_one(view: object) -> None:
    whole = rendered(view)
    blocks = list(blocks_of(view))
    assert b"".join(blocks) == whole
    assert all(len(block) >= BLOCK for block in blocks[:-1])
    answer = json_answer(view, 200)
    assert answer.data == whole
    assert answer.mimetype == MEDIA_TYPE


def test_only_long_answers_are_streamed() -> None:
    for view in VIEWS.values():
        whole = rendered(view)
        answer = json_answer(view, 200)
        assert answer.is_streamed == (len(whole) > STREAMED)
        assert answer.content_length == (None if len(whole) > STREAMED else len(whole))
    assert json_answer(release(5 * PART + 3), 200).is_streamed
    assert not json_answer(VIEWS["lazy"], 200).is_streamed


def test_what_has_no_form_in_json_fails_before_the_first_byte() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        json_answer(View("late", [*range(2 * PART), object()]), 200)


def test_a_streamed_answer_is_never_whole_in_memory() -> None:
    """In vectors of a million values, the text of an answer has several, and a stream none."""
    vector = numbers(10**6)
    view = View("values", vector)

    def grown(render: Callable[[], object]) -> float:
        tracemalloc.start()
        try:
            render()
            return tracemalloc.get_traced_memory()[1] / vector.nbytes
        finally:
            tracemalloc.stop()

    def sent() -> int:
        return sum(len(block) for block in json_answer(view, 200).response)

    assert grown(sent) < 0.5
    assert grown(lambda: rendered(view)) > 2
    assert grown(vector.tolist) > 2
    assert sent() == len(rendered(view))
