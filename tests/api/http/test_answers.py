"""Test answers as JSON: views and vectors as they are, long lists in parts, times in UTC."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from types import MappingProxyType
from typing import overload

import numpy as np
import pytest

from penstock.http.answers import LINES, MEDIA_TYPE, PART, json_answer, lines_answer, rendered


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
