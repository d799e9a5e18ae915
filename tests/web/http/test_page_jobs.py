"""Test jobs started by forms: where they lead, and what is stored of the form."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from flask import Response
from tests.api.world import World
from werkzeug.datastructures import MultiDict

from penstock.errors import PenstockError
from penstock.http.counting.rate_limits import Limits
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import jobs
from penstock.services.jobs.jobs import WorkView
from penstock.services.jobs.runner import JobFunction, Runner
from penstock.web.http.page_jobs import JobKind, Typed, begun, has_any, onward, typed
from penstock.web.http.request_context import Visit

AT = datetime(2026, 11, 20, tzinfo=UTC)
PIECE = WorkView(
    id="7",
    kind="query",
    key="form-" + "k" * 32,
    subject="sites",
    fields="name=a+b&columns=x&columns=y&keys=",
    by="root",
    state="done",
    attempt=1,
    stage="",
    percent=None,
    problem=None,
    result="a b",
    host="here",
    started_at=AT,
    beat_at=AT,
    finished_at=AT,
)


def reads(_: Server, __: Principal, fields: Typed) -> JobFunction:
    return lambda _: fields["name"]


def shows(_: Visit, result: str) -> Response:
    return Response(result)


KIND = JobKind("query", "registering", "admin", reads, result=shows, exact=("values",))


def visit(world: World, *roles: str) -> Visit:
    limits: Limits = None  # type: ignore[assignment]  # nothing here is limited
    runner: Runner = None  # type: ignore[assignment]  # exact values are never given to one
    return Visit(world.server, limits, runner, Principal("root", 1, frozenset(roles)))


def test_a_form_is_read_back_as_it_was_typed_under_its_key() -> None:
    fields = typed(PIECE)
    assert fields.getlist("columns") == ["x", "y"]
    assert (fields["name"], fields["keys"], fields["once"]) == ("a b", "", "k" * 32)


def test_a_result_leads_to_its_page_and_unfinished_work_nowhere(world: World) -> None:
    own = visit(world, "admin")
    done = onward(own, KIND, PIECE)
    assert done is not None
    assert done.get_data(as_text=True) == "a b"
    assert onward(own, KIND, replace(PIECE, state="running", result=None)) is None
    assert onward(own, replace(KIND, result=None), PIECE) is None


def test_a_result_without_a_page_is_shown_in_its_form(world: World) -> None:
    in_form = replace(KIND, shown=lambda *_: Response())
    with world.client.application.test_request_context("/"):
        led = onward(visit(world, "admin"), in_form, PIECE)
    assert led is not None
    assert "7" in (led.location or "")


def test_exact_values_are_worked_on_at_once_and_not_kept(world: World) -> None:
    own, fields = visit(world, "admin"), {"name": "a", "values": "1", "once": "v" * 32}
    with world.client.application.test_request_context("/", method="POST", data=fields):
        answer = begun(own, KIND, MultiDict(fields))
    assert answer.get_data(as_text=True) == "a"
    assert not jobs.has_any(world.server, own.principal)


def test_an_analyst_has_no_work_and_a_database_that_is_away_shows_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "has_any", lambda *_: True)
    assert not has_any(visit(world, "analyst"))
    assert has_any(visit(world, "auditor"))

    def away(*_: object) -> bool:
        raise PenstockError("The database is away.")

    monkeypatch.setattr(jobs, "has_any", away)
    assert not has_any(visit(world, "auditor"))
