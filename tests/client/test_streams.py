"""Streams with the client: pushed once whatever is lost on the way, and read as tables."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from tests.client.answers import STREAM, problem

from penstock_client import Client, Conflict, InvalidArgument, NotReachable, command
from penstock_client._http import pushing

Handler = Callable[[httpx.Request], httpx.Response]
FORMS = ["to_pandas", "to_polars", "to_arrow"]


class Fake:
    """A stream as the server keeps one: it takes the next number alone.

    ``faults`` say of each push in turn what goes wrong: the request, the answer, nothing.
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
    found = client_of(fake, token).push("hits", range(10), first=1)
    assert fake.elements == list(range(10))
    assert fake.sizes == [4, 4, 2]
    assert (found.stream, found.first, found.last, found.next, found.skipped) == (
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
    with pytest.raises(InvalidArgument, match="number 2, and these begin with 4"):
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


@pytest.mark.parametrize("form", FORMS)
def test_totals_are_tables(client: Client, answers: dict[str, Any], form: str) -> None:
    answers["GET /api/v1/streams/hits/releases"]["items"][1]["values"] = [-1.0]
    table = getattr(client.stream("hits"), form)()
    frame = table if form == "to_pandas" else table.to_pandas().set_index("t")
    assert frame.index.name == "t"
    assert frame.index.tolist() == [1, 2]
    assert frame.columns.tolist() == ["total", "standard_deviation", "half_width"]
    assert frame["total"].tolist() == [3.5, -1.0]
    assert frame["half_width"].tolist() == [88.26, 99.0]


def test_a_frame_says_what_it_is_and_wide_totals_have_columns(
    client: Client, answers: dict[str, Any]
) -> None:
    for place, item in enumerate(answers["GET /api/v1/streams/hits/releases"]["items"]):
        item["values"] = [float(place), 5.0]
    totals = client.stream("hits")
    frame = totals.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame[["total_1", "total_2"]].to_numpy().tolist() == [[0, 5], [1, 5]]
    told = {"stream": "hits", "dataset": "clicks", "tier": "partner", "epsilon": 0.6294}
    assert told.items() <= frame.attrs.items()
    rest = json.loads(totals.to_arrow().schema.metadata[b"penstock"])
    assert rest["receipt"]["index"] == 41
    assert "items" not in rest


def test_a_preview_compares_structures(client: Client, requests: list[httpx.Request]) -> None:
    found = client.preview_stream({"name": "more", "length": None})
    assert json.loads(requests[-1].content) == {"name": "more", "length": None}
    assert (found.judged_steps, found.noisiest_step, found.refusal) == (250, 231, None)
    (tier,) = found.tiers
    assert (tier.root_mean_square, tier.steps[0].t, tier.charge.share) == (9.44, 1, 0.0164)
    best, other = found.structures
    assert (best.name, best.chosen, best.errors[0].charged_share) == ("kary", True, 0.0164)
    assert (other.request, other.errors[0].charged_share) == (None, None)
    with pytest.raises(InvalidArgument):
        client.preview_stream({"name": object()})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, server: Handler, token: str) -> Callable[..., int]:
    monkeypatch.setenv("PENSTOCK_TOKEN", token)

    def run(*arguments: str, handler: Handler = server) -> int:
        transport = httpx.MockTransport(handler)
        monkeypatch.setattr(command, "Client", functools.partial(Client, transport=transport))
        return command.run(("stream", *arguments))

    return run


def test_streams_are_listed_read_and_pushed_by_command(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["stream", "hits"]
    assert run("read", "hits", "--from", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "hits"
    assert [line.split() for line in lines[-2:]] == [["1", "4", "88"], ["2", "-1", "99"]]
    assert run("read", "hits", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,3.5,45.03,88.26"
    file, fake = tmp_path / "sent.json", Fake("answer")
    file.write_text('{"from": 1, "values": [1, 2, 3]}')
    for skipped in (0, 3):
        assert run("push", "hits", str(file), "--format", "json", handler=fake) == 0
        told = json.loads(capsys.readouterr().out)
        assert told == {"stream": "hits", "from": 1, "to": 3, "skipped": skipped, "next": 4}
    assert fake.elements == [1, 2, 3]
    file.write_text('{"values": 3}')
    assert run("push", "hits", str(file), handler=fake) == 2


def test_a_preview_is_two_tables(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "spec.json").write_text('{"name": "more"}')
    assert run("preview", str(tmp_path / "spec.json")) == 0
    _, tiers, heading, structures = capsys.readouterr().out.split("\n\n")
    assert tiers.splitlines()[1].split()[0] == "partner"
    assert "the guarantee of partner, over 250 elements" in heading
    rows = structures.splitlines()[1:]
    assert rows[0].endswith("chosen, least mean")
    assert rows[1].endswith("not opened here")
