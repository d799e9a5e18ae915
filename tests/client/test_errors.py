"""Test that errors can be copied between processes, and their text."""

import copy
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from penstock_client import (
    ApiError,
    Client,
    InvalidField,
    InvalidInput,
    LogForked,
    MissingExtra,
    PenstockError,
)

Handler = Callable[[httpx.Request], httpx.Response]
ClientOf = Callable[[Handler], Client]
Refuse = Callable[..., httpx.Response]


def test_an_error_survives_being_copied_between_processes(
    client_of: ClientOf, refuse: Refuse
) -> None:
    with pytest.raises(ApiError) as caught:
        client_of(lambda _: refuse(404, "NOT_FOUND")).me()
    copied = copy.copy(caught.value)
    assert (type(copied), str(copied)) == (type(caught.value), str(caught.value))


@pytest.mark.parametrize(
    "error", [MissingExtra("arrow", "to_arrow"), LogForked("Two logs.", Path("fork.json"))]
)
def test_errors_with_more_than_a_message_are_copied_whole(error: PenstockError) -> None:
    copied = copy.copy(error)
    assert (type(copied), str(copied)) == (type(error), str(error))
    assert vars(copied) == vars(error)


def test_a_place_that_repeats_the_detail_is_not_printed_twice() -> None:
    fields = (InvalidField("", "above 0"), InvalidField("/rho", "above 0"), InvalidField("", "odd"))
    error = InvalidInput(422, "INVALID_INPUT", "Invalid", "above 0", fields)
    assert str(error) == "Invalid: above 0 (INVALID_INPUT)\n  /rho: above 0\n  /: odd"
