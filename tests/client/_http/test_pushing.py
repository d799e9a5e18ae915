"""Test that each pushed element is stored once, whatever is lost on the way."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.client.servers.answers import STREAM, problem

from penstock_client import Client, Conflict, InvalidArgument, NotReachable
from penstock_client._http import pushing

Handler = Callable[[httpx.Request], httpx.Response]


class Fake:
    """Represent a stream of a server, which accepts only the next element.

    ``faults`` state for each push in turn what fails: the request, the answer, or nothing.
    """

    def __init__(self, *faults: str, length: int | None = 100) -> None:
        self.faults: Iterator[str] = iter(faults)
        self.length = length
        self.elements: list[Any] = []
        self.sizes: list[int] = []

    @property
    def next(self) -> int | None:
        following = len(self.elements) + 1
        return None if self.length is not None and following > self.length else following

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={**STREAM, "next": self.next, "length": self.length})
        fault = next(self.faults, "")
        if fault == "request":
            raise httpx.ConnectError("gone")
        if fault == "gateway":
            return httpx.Response(502)
        if fault == "levels":
            return problem(409, "CONFLICT")
        if fault == "other":
            self.elements.append("another's")
        body = json.loads(request.content)
        if body["from"] != self.next:
            return problem(409, "CONFLICT", next=self.next)
        self.elements += body["values"]
        self.sizes.append(len(body["values"]))
        if fault == "answer":
            raise httpx.ReadTimeout("gone")
        answer = {"stream": "hits", "first": body["from"], "last": len(self.elements)}
        return httpx.Response(200, json={**answer, "next": self.next, "asserted_by": "root"})


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushing, "FIRST_PAUSE", 0.0)


def client_of(fake: Handler, token: str) -> Client:
    return Client(token=token, transport=httpx.MockTransport(fake))


@pytest.mark.parametrize(
    "faults",
    [
        (),
        ("request",),
        ("answer",),
        ("gateway", "request", "answer"),
        ("", "answer", "request", "", "gateway"),
        ("levels", "levels"),
    ],
)
def test_every_element_is_taken_in_once_whatever_is_lost(
    token: str, monkeypatch: pytest.MonkeyPatch, faults: tuple[str, ...]
) -> None:
    monkeypatch.setattr(pushing, "NUMBERS_AT_ONCE", 4)
    fake = Fake(*faults)
    pushed = client_of(fake, token).push("hits", range(10), first=1)
    assert fake.elements == list(range(10))
    assert fake.sizes == [4, 4, 2]
    assert (pushed.stream, pushed.first, pushed.last, pushed.next, pushed.skipped) == (
        *("hits", 1, 10),
        *(11, 0),
    )


def test_a_push_is_repeated_from_its_beginning_and_goes_on_where_it_was(token: str) -> None:
    fake = Fake(*("", "request", "request", "request", "request", "request", "request"))
    client = client_of(fake, token)
    client.push("hits", [1, 2, 3])
    with pytest.raises(NotReachable):
        client.push("hits", [4, 5])
    again = client.push("hits", [1, 2, 3, 4, 5], first=1)
    assert (again.skipped, again.last, again.next) == (3, 5, 6)
    assert fake.elements == [1, 2, 3, 4, 5]
    whole = client.push("hits", [1, 2, 3, 4, 5], first=1)
    assert (whole.skipped, whole.last, whole.next) == (5, 5, 6)
    part = client.push("hits", [2, 3], first=2)
    assert (part.first, part.last, part.skipped, part.next) == (2, 3, 2, 6)
    assert fake.elements == [1, 2, 3, 4, 5]


def test_a_gap_and_another_pusher_are_refused(token: str) -> None:
    fake = Fake("", "other", "request")
    client = client_of(fake, token)
    client.push("hits", [1])
    with pytest.raises(InvalidArgument, match="number 2, and these elements begin with number 4"):
        client.push("hits", [4], first=4)
    with pytest.raises(Conflict) as problem:
        client.push("hits", [2, 3])
    assert problem.value.data["next"] == 3
    assert fake.elements == [1, "another's"]


def test_a_stream_that_is_full_takes_nothing_more(token: str) -> None:
    fake = Fake(length=2)
    client = client_of(fake, token)
    assert client.push("hits", [1, 2]).next is None
    assert client.push("hits", [1, 2], first=1).skipped == 2
    with pytest.raises(Conflict):
        client.push("hits", [3])


def test_rows_and_numpys_numbers_go_as_plain_ones(token: str) -> None:
    fake = Fake()
    client = client_of(fake, token)
    client.push("hits", np.array([[1, 2], [3, 4]]))
    client.push("hits", [np.int64(5), np.array([6.5, 7.0]), (8, np.float64(9))])
    assert fake.elements == [[1, 2], [3, 4], 5, [6.5, 7.0], [8, 9.0]]


@pytest.mark.parametrize("bad", [True, "1", None, float("nan"), 10**400, [1, [2]], [None]])
def test_what_is_no_number_is_not_sent(token: str, bad: Any) -> None:
    fake = Fake()
    with pytest.raises(InvalidArgument, match="finite numbers"):
        client_of(fake, token).push("hits", [bad])
    with pytest.raises(InvalidArgument, match="no element"):
        client_of(fake, token).push("hits", [])
    assert fake.elements == []


def test_elements_are_pushed_by_command_and_again_after_a_failure(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, fake = tmp_path / "sent.json", Fake("answer")
    file.write_text('{"from": 1, "values": [1, 2, 3]}')
    for skipped in (0, 3):
        assert run("stream", "push", "hits", str(file), "--format", "json", handler=fake) == 0
        pushed = json.loads(capsys.readouterr().out)
        assert pushed == {"stream": "hits", "from": 1, "to": 3, "skipped": skipped, "next": 4}
    assert fake.elements == [1, 2, 3]
    file.write_text('{"values": 3}')
    assert run("stream", "push", "hits", str(file), handler=fake) == 2


@pytest.mark.parametrize("text", ["[]", '{"values": 3}', '{"from": "1", "values": []}', "{"])
def test_a_file_without_elements_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="-"):
        pushing.elements_in("-", io.StringIO(text))


def test_a_file_may_leave_the_first_number_out() -> None:
    assert pushing.elements_in("-", io.StringIO('{"values": [1, [2]]}')) == ([1, [2]], None)
