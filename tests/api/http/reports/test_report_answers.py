"""Test a report over HTTP: its forms, and that the client's verifier refuses an altered one."""

import json
import re
from datetime import timedelta

import pytest
from tests.api.world import World, parsed

from penstock_client._log.reports import verify

PATH = "/api/v1/audit/report?dataset=sites"
MEDIA = {"html": "text/html", "pdf": "application/pdf", "json": "application/json"}


def fetched(world: World, form: str) -> bytes:
    response = world.call("GET", PATH, by="olga", headers={"Accept": MEDIA[form]})
    assert response.status_code == 200, response.text
    assert response.mimetype == MEDIA[form]
    assert response.headers["Vary"] == "Accept"
    named = world.call("GET", f"{PATH}&format={form}", by="olga")
    assert named.mimetype == MEDIA[form]
    return bytes(response.data)


@pytest.fixture
def public(world: World) -> bytes:
    return bytes.fromhex(world.answer("GET", "/api/v1/audit/checkpoint", by="olga")["key"])


@pytest.mark.parametrize("form", MEDIA)
def test_each_form_is_verified_without_the_server(world: World, public: bytes, form: str) -> None:
    content = fetched(world, form)
    report = verify(content, public)
    assert report.facts["releases"] == 1
    assert bool(report.document) == (form != "json")
    with pytest.raises(ValueError, match="not a note of the log with this key"):
        verify(content, bytes(32))


@pytest.mark.parametrize("form", ["html", "pdf"])
def test_what_a_page_shows_cannot_be_changed(world: World, public: bytes, form: str) -> None:
    content = fetched(world, form)
    places = [match.start() for match in re.finditer(rb"[0-9]", content)]
    for place in places[:: max(1, len(places) // 150)]:
        other = b"7" if content[place : place + 1] != b"7" else b"3"
        altered = content[:place] + other + content[place + 1 :]
        with pytest.raises(ValueError, match=r"."):
            verify(altered, public)
    with pytest.raises(ValueError, match="what it shows is not"):
        verify(content + b"\n", public)


def test_no_fact_can_be_changed(world: World, public: bytes) -> None:
    answer = json.loads(fetched(world, "json"))
    changes: list[dict[str, object]] = [
        {"releases": 0},
        {"dataset": "other"},
        {"given": []},
        {"extra": 1},
    ]
    for change in changes:
        altered = {**answer, "facts": {**answer["facts"], **change}}
        with pytest.raises(ValueError, match="was altered"):
            verify(json.dumps(altered).encode(), public)
    assert verify(json.dumps(answer, indent=4).encode(), public).facts == answer["facts"]


def test_a_page_around_the_facts_of_another_is_refused(world: World, public: bytes) -> None:
    first = fetched(world, "html")
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ian")
    world.clock.now += timedelta(seconds=5)
    second = fetched(world, "html")
    line = re.compile(rb"^<!--penstock-report:.*-->\n", re.MULTILINE)
    mixed = line.sub(lambda _: line.findall(first)[0], second)
    with pytest.raises(ValueError, match="what it shows is not"):
        verify(mixed, public)


def test_a_page_is_a_file_that_runs_nothing(world: World) -> None:
    response = world.call("GET", f"{PATH}&format=html", by="olga")
    disposition = response.headers["Content-Disposition"]
    assert re.fullmatch(
        r'attachment; filename="audit-report-sites-\d{4}-\d\d-\d\d\.html"', disposition
    )
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy


def test_another_form_is_refused_with_those_that_are_served(world: World) -> None:
    answer = world.call("GET", PATH, by="olga", headers={"Accept": "application/msword"})
    problem = parsed(answer)
    assert (answer.status_code, problem["code"]) == (406, "NOT_ACCEPTABLE")
    assert "text/html and application/pdf" in problem["detail"]
