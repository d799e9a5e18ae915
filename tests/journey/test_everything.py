"""Test one journey through everything that the server does, on each database.

The rules themselves are tested elsewhere, on SQLite.  Here every operation of the API, a page
of every kind, and what an operator does besides are carried out once on one home, and what
was written is read again: in lists by the page, by filters, in exports, and by the verifier.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import flask
import pytest
from tests.api.queries.loans import BOOKS, LOANS
from tests.api.queries.loans import ROWS as LOAN_ROWS
from tests.api.queries.people import ASKED, PEOPLE, ROWS
from tests.api.world import DATASET, QUERY, SECRET, START, World, open_world, parsed
from tests.databases.homes import Homes
from tests.journey.analysts_asking import ask_for_queries
from tests.unit.services.audit.cosigning import ONE
from tests.web.world import Browser

from penstock.api import OPERATIONS
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.operations import key_rotation
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.verification import verification

pytestmark = pytest.mark.each_database

API = "/api/v1"
STREAM: dict[str, Any] = {
    "name": "arrivals",
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "binary",
    "length": 32,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.2}, "internal": {"epsilon": 0.4}},
}
AGES: dict[str, Any] = {
    "name": "ages",
    "dataset": "grown",
    "mechanism": "gaussian",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "mean", "column": "age"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "levels": {"public": {"rho": 0.02}, "internal": {"rho": 0.2}},
}
PROVIDER: dict[str, Any] = {"oidc_issuer": "https://id.example.org", "oidc_audience": "penstock"}
PAGES = {
    "ian": ["/catalogue", "/queries/visits", "/streams/arrivals", "/history", "/budgets"],
    "root": ["/users", "/tiers", "/datasets/sites/budgets", "/proposals", "/keys", "/new/query"],
    "olga": ["/timeline", "/exposure?users=ann,ian&dataset=sites", "/proofs/verification"],
}


@pytest.fixture
def server(homes: Homes, tmp_path: Path) -> Iterator[World]:
    """Yield a new home with an admin, served."""
    world = open_world(homes.empty(tmp_path / "home"), {}, cosigners=ONE.verifier.text, **PROVIDER)
    users.create(world.server, OPERATOR, UserSpec(name="root", roles=["admin"]))
    world.tokens["root"] = tokens.issue(world.server, OPERATOR, "root", TokenSpec()).token
    yield world
    world.server.database.close()


@pytest.fixture
def called(server: World) -> Iterator[set[str]]:
    """Yield the endpoints that were called."""
    seen: set[str] = set()

    def note(sender: flask.Flask, **_: object) -> None:
        seen.add(flask.request.endpoint or "")

    with flask.request_started.connected_to(note, server.client.application):
        yield seen


def test_everything_that_the_server_does(
    server: World, called: set[str], tmp_path: Path, backend: str
) -> None:
    invite_people(server)
    register_data(server, tmp_path)
    released = release_in_any_order(server)
    move_levels_and_tiers(server)
    follow_a_stream(server)
    add_a_version(server, tmp_path)
    keep_a_timetable(server, tmp_path)
    propose_and_decide(server)
    ask_for_queries(server)
    read_the_log(server)
    look_at_pages(server)
    end_what_was_begun(server)
    for (by, wish), first in released.items():
        again = ask(server, by, **({"tier": wish} if wish else {}))
        assert again["values"] == first["values"], f"{by} is answered otherwise on {backend}"
    assert verification.verify(server.server, OPERATOR).problems == []
    assert {f"api.{operation.name}" for operation in OPERATIONS} <= called


def ask(server: World, by: str, query: str = "visits", **wish: object) -> dict[str, Any]:
    """Return one release, as its JSON document."""
    found: dict[str, Any] = server.answer("POST", f"{API}/queries/{query}/releases", wish, by=by)
    return found


def listed(server: World, path: str, by: str) -> list[Any]:
    """Return all items of a list, fetched two at a time."""
    items: list[Any] = []
    cursor = ""
    while True:
        joint = "&" if "?" in path else "?"
        page = server.answer("GET", f"{API}/{path}{joint}limit=2{cursor}", by=by)
        items += page["items"]
        if page["next_cursor"] is None:
            return items
        assert len(page["items"]) == 2
        cursor = f"&cursor={page['next_cursor']}"


def invite_people(server: World) -> None:
    """Make tiers and users, and hand everybody a token; take one back."""
    for path in ("/healthz", "/readyz"):
        assert server.call("GET", path).status_code == 200
    for tier in ({"name": "public", "rank": 10}, {"name": "internal", "above": "public"}):
        server.answer("POST", f"{API}/tiers", tier, by="root")
    people = {
        "ann": ("analyst", "public"),
        "ian": ("analyst", "internal"),
        "olga": ("auditor", None),
    }
    for name, (role, cleared) in people.items():
        body = {"name": name, "roles": [role], "clearance": cleared}
        server.answer("POST", f"{API}/users", body, by="root")
        issued = server.answer("POST", f"{API}/users/{name}/tokens", {}, by="root")
        server.tokens[name] = issued["token"]
    late = {"users": [{"name": "lea", "roles": ["auditor"]}], "dry_run": True}
    assert server.answer("POST", f"{API}/users/import", late, by="root")["dry_run"]
    leo = {"name": "leo", "roles": ["analyst"], "clearance": "public"}
    invitation = server.answer("POST", f"{API}/invitations", leo, by="root")
    server.answer("DELETE", f"{API}/invitations/{invitation['id']}", by="root")
    assert [item["state"] for item in listed(server, "invitations", "root")] == ["revoked"]
    spare = server.answer("POST", f"{API}/users/ann/tokens", {}, by="ann")
    server.tokens["spare"] = spare["token"]
    server.answer("DELETE", f"{API}/users/ann/tokens/{spare['prefix']}", by="ann")
    assert server.call("GET", f"{API}/me", by="spare").status_code == 401
    assert len(listed(server, "users/ann/tokens", "ann")) == 2
    assert [user["name"] for user in listed(server, "users", "root")] == ["root", *people]
    assert server.answer("GET", f"{API}/users/ian", by="root")["clearance"] == "internal"
    assert server.answer("GET", f"{API}/me", by="olga")["roles"] == ["auditor"]


def register_data(server: World, folder: Path) -> None:
    """Register datasets of each kind, and a query of each kind on them."""
    for name, spec, rows in (("people", PEOPLE, ROWS), ("loans", LOANS, LOAN_ROWS)):
        file = folder / f"{name}.csv"
        file.write_text(rows, encoding="utf-8")
        source = {"engine": "duckdb", "uri": str(file)}
        server.answer("POST", f"{API}/datasets", {**spec, "source": source}, by="root")
    server.answer("POST", f"{API}/datasets", DATASET, by="root")
    for name, mechanism in (("flat", "laplace"), ("whole", "poisson"), ("spread", "skellam")):
        few = {tier: {"epsilon": 0.05} for tier in ("public", "internal")}
        pushed = {**QUERY, "name": name, "mechanism": mechanism, "levels": few}
        server.answer("POST", f"{API}/queries", pushed, by="root")
    server.answer("POST", f"{API}/queries/preview", QUERY, by="ian")
    for query in (QUERY, SECRET, ASKED, BOOKS):
        server.answer("POST", f"{API}/queries", query, by="root")
    named = [query["name"] for query in listed(server, "queries", "ann")]
    assert sorted(named) == ["books", "flat", "habits", "spread", "visits", "whole"]
    assert len(listed(server, "datasets", "root")) == 3
    dummy = server.call("GET", f"{API}/datasets/people/dummy?rows=5&seed=1", by="ann")
    assert dummy.status_code == 200
    assert server.answer("GET", f"{API}/datasets/loans", by="ann")["name"] == "loans"
    assert server.answer("GET", f"{API}/queries/secret", by="ian")["name"] == "secret"
    assert server.call("GET", f"{API}/queries/secret", by="ann").status_code == 404


def release_in_any_order(server: World) -> dict[tuple[str, str], dict[str, Any]]:
    """Release every query twice; return what was given of ``visits``, by user and tier."""
    for query in ("flat", "whole", "spread", "habits", "books"):
        for by in ("ann", "ian"):
            assert ask(server, by, query) == ask(server, by, query)
    between = ask(server, "ian", epsilon=0.2)
    found = {("ian", "internal"): ask(server, "ian"), ("ann", ""): ask(server, "ann")}
    found["ian", "public"] = ask(server, "ian", tier="public")
    assert found["ian", "public"]["values"] == found["ann", ""]["values"]
    assert between["values"] != found["ann", ""]["values"]
    refused = server.call("POST", f"{API}/queries/visits/releases", {"tier": "internal"}, by="ann")
    assert (refused.status_code, parsed(refused)["code"]) == (403, "CLEARANCE_TOO_LOW")
    history = listed(server, "releases", "ian")
    assert len(history) == 8
    assert len(listed(server, "releases?query=visits", "ian")) == 3
    name = found["ian", "internal"]["id"]
    assert server.answer("GET", f"{API}/releases/{name}", by="ian")["query"] == "visits"
    values = server.call("GET", f"{API}/releases/{name}/values?format=csv", by="ian")
    assert values.text.count("\n") == 1 + len(QUERY["values"])
    rows = server.call("GET", f"{API}/releases/{name}/synthetic", by="ian")
    assert rows.status_code == 422, "a pushed vector is no table of counts"
    return found


def move_levels_and_tiers(server: World) -> None:
    """Insert a tier, raise levels and a budget, promote and demote; refuse what does not fit."""
    server.answer("POST", f"{API}/tiers", {"name": "partner", "above": "public"}, by="root")
    server.answer("POST", f"{API}/tiers", {"name": "spare", "rank": 50}, by="root")
    server.answer("PATCH", f"{API}/tiers/spare", {"description": "for nobody"}, by="root")
    server.answer("DELETE", f"{API}/tiers/spare", by="root")
    staff = {"group": "staff", "roles": ["analyst"], "tier": "public"}
    mapping = server.answer("POST", f"{API}/group-mappings", staff, by="root")
    assert listed(server, "group-mappings", "olga") == [mapping]
    server.answer("DELETE", f"{API}/group-mappings/{mapping['id']}", by="root")
    names = [tier["name"] for tier in listed(server, "tiers", "ann")]
    assert sorted(names) == ["internal", "partner", "public"]
    budgets = {"budgets": {"internal": {"epsilon": 5}, "partner": {"epsilon": 2}}}
    server.answer("PATCH", f"{API}/datasets/sites", budgets, by="root")
    levels = {"levels": {"partner": {"epsilon": 0.3}}}
    server.answer("PATCH", f"{API}/queries/visits", levels, by="root")
    titled = server.answer("PATCH", f"{API}/queries/visits", {"title": "Visits"}, by="root")
    assert (titled["title"], titled["unit"]) == ("Visits", "")
    server.answer("PATCH", f"{API}/users/ann", {"clearance": "partner"}, by="root")
    assert ask(server, "ann")["tier"] == "partner"
    server.answer("PATCH", f"{API}/users/ann", {"clearance": "public"}, by="root")
    tiers = server.answer("GET", f"{API}/datasets/sites/budget", by="root")["tiers"]
    assert [tier["tier"] for tier in tiers] == ["public", "partner", "internal"]
    assert all(tier["spent"]["epsilon"] <= tier["granted"]["epsilon"] for tier in tiers)
    much = {**QUERY, "name": "much", "levels": {"public": {"epsilon": 50}}}
    refused = server.call("POST", f"{API}/queries", much, by="root")
    assert (refused.status_code, parsed(refused)["code"]) == (409, "BUDGET_EXHAUSTED")


def follow_a_stream(server: World) -> None:
    """Open a stream, push to it, let a tier join, and read totals; retire another."""
    server.answer("POST", f"{API}/streams/preview", STREAM, by="ian")
    for name in ("arrivals", "ended"):
        server.answer("POST", f"{API}/streams", {**STREAM, "name": name}, by="root")
    path = f"{API}/streams/arrivals"
    server.answer("POST", f"{path}/elements", {"from": 1, "values": [3, 1, 4, 1]}, by="root")
    before = server.answer("GET", f"{path}/releases", by="ian")["items"]
    server.answer("PATCH", path, {"levels": {"partner": {"epsilon": 0.3}}}, by="root")
    server.answer("POST", f"{path}/elements", {"from": 5, "values": [5, 9]}, by="root")
    assert server.answer("GET", path, by="ian")["next"] == 7
    after = server.answer("GET", f"{path}/releases", by="ian")["items"]
    assert (after[:4], len(after)) == (before, 6)
    again = {"from": 2, "values": [1]}
    assert server.call("POST", f"{path}/elements", again, by="root").status_code == 409
    server.answer("POST", f"{API}/streams/ended/retire", {}, by="root")
    assert len(listed(server, "streams", "root")) == 2


def add_a_version(server: World, folder: Path) -> None:
    """Register a dataset that grows, and a query on its second version under a key."""
    columns = {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
    }
    sources = []
    for number in (1, 2):
        file = folder / f"grown-{number}.csv"
        rows = [f"p{row},{'north' if row % 3 else 'south'},{20 + row % 41}" for row in range(900)]
        file.write_text("\n".join(["person,town,age", *rows[: 450 * number]]) + "\n")
        sources.append({"engine": "duckdb", "uri": str(file)})
    grown = {**PEOPLE, "name": "grown", "columns": columns, "source": sources[0]}
    server.answer("POST", f"{API}/datasets", grown, by="root")
    version = {"source": sources[1], "budgets": PEOPLE["budgets"]}
    server.answer("POST", f"{API}/datasets/grown/versions", version, by="root")
    headers = {"Idempotency-Key": "ages of everybody"}
    answers = [
        server.call("POST", f"{API}/queries", AGES, by="root", headers=headers) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].data == answers[1].data
    assert ask(server, "ian", "ages")["keys"] == ["north", "south"]


def keep_a_timetable(server: World, folder: Path) -> None:
    """Look ahead at a timetable of further versions, switch it on and off, and remove it."""
    nightly = {
        "name": "nightly",
        "dataset": "grown",
        "cron": "0 3 * * *",
        "version": {
            "source": {"engine": "duckdb", "uri": str(folder / "grown-{date}.csv")},
            "budgets": {"internal": {"epsilon": 1.0}},
        },
        "total": {"internal": 5.0},
    }
    path = f"{API}/schedules"
    ahead = server.answer("POST", f"{path}/preview?days=3", nightly, by="root")
    assert (ahead["occurrences"], ahead["tiers"][0]["by_then"]) == (3, 3.0)
    server.answer("POST", path, nightly, by="root")
    assert server.answer("PATCH", f"{path}/nightly", {"on": True}, by="root")["on"]
    assert [one["name"] for one in listed(server, "schedules", "olga")] == ["nightly"]
    refused = server.call("DELETE", f"{path}/nightly", by="root")
    assert refused.status_code == 409
    server.answer("PATCH", f"{path}/nightly", {"on": False}, by="root")
    assert server.answer("GET", f"{path}/nightly", by="olga")["next_at"] is None
    server.answer("DELETE", f"{path}/nightly", by="root")


def proposed(server: World, query: str) -> str:
    """Let the operator propose to retire a query, under the two-person rule; return its id."""
    settings = server.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(server.server, settings=settings)
    made = proposals.do_or_propose(ruled, OPERATOR, QueryRetirement(query=query))
    assert isinstance(made, ProposalView)
    return made.id


def propose_and_decide(server: World) -> None:
    """Approve what the operator proposed, and withdraw another proposal."""
    withdrawn = proposed(server, "flat")
    server.answer("DELETE", f"{API}/proposals/{withdrawn}", by="root")
    approved = proposed(server, "spread")
    server.answer("POST", f"{API}/proposals/{approved}/approval", by="root")
    shown = server.answer("GET", f"{API}/proposals/{approved}", by="olga")
    assert (shown["state"], shown["decided_by"]) == ("approved", "root")
    assert len(listed(server, "proposals?state=approved", "root")) == 1
    refused = server.call("POST", f"{API}/queries/spread/releases", {}, by="ian")
    assert refused.status_code == 409


def read_the_log(server: World) -> None:
    """Read the log by filters, export it, prove leaves of it, and let a checkpoint be cosigned."""
    events = listed(server, "audit/events", "olga")
    newest = server.answer("GET", f"{API}/audit/checkpoint", by="olga")
    assert len(events) == newest["size"]
    cosigned = ONE.signed(newest["note"], int(START.timestamp()))
    taken = server.answer("POST", f"{API}/audit/cosignatures", {"note": cosigned}, by="olga")
    assert [one["cosigner"] for one in taken["cosignatures"]] == [ONE.verifier.name]
    of_ian = listed(server, "audit/events?kind=release&user=ian", "olga")
    assert 0 < len(of_ian) < len(events)
    assert {event["user"] for event in of_ian} == {"ian"}
    until = START.isoformat().replace("+00:00", "Z")
    assert len(listed(server, f"audit/events?since={until}&query=visits", "olga")) > 3
    exported = server.call("GET", f"{API}/audit/export", by="olga").text.splitlines()
    assert len(exported) == newest["size"]
    index = of_ian[0]["index"]
    proof = server.answer("GET", f"{API}/audit/proof/inclusion?index={index}", by="ian")
    assert proof["leaf_hash"] == of_ian[0]["leaf_hash"]
    size = newest["size"]
    server.answer("GET", f"{API}/audit/proof/consistency?from=1&to={size}", by="ann")
    lines = server.call("GET", f"{API}/audit/events/export?user=ian", by="olga").text.splitlines()
    assert len(lines) == len(listed(server, "audit/events?user=ian", "olga"))
    report = server.answer("GET", f"{API}/audit/report?dataset=sites", by="olga")
    assert report["facts"]["releases"] > 0
    path = f"{API}/audit/exposure?users=ann,ian&dataset=sites"
    exposure = server.answer("GET", path, by="olga")
    assert exposure["released"]["epsilon"] <= exposure["independent"]["epsilon"]


def look_at_pages(server: World) -> None:
    """Sign in by each role, and open a page of every kind."""
    for name, paths in PAGES.items():
        browser = Browser(server, server.client.application.test_client())
        assert browser.sign_in(name).status_code == 303
        for path in paths:
            assert browser.get(path).status_code == 200, path


def end_what_was_begun(server: World) -> None:
    """Rotate the keys, retire a query, shred a dataset, and disable a user."""
    key_rotation.rotate(server.server, OPERATOR)
    server.answer("POST", f"{API}/queries/secret/retire", {}, by="root")
    key_rotation.shred(server.server, OPERATOR, "loans")
    assert server.call("POST", f"{API}/queries/books/releases", {}, by="ian").status_code == 409
    mistaken = {**DATASET, "name": "mistaken"}
    server.answer("POST", f"{API}/datasets", mistaken, by="root")
    server.answer("DELETE", f"{API}/datasets/mistaken", by="root")
    server.answer("POST", f"{API}/users", {"name": "gone", "roles": ["analyst"]}, by="root")
    server.answer("DELETE", f"{API}/users/gone", by="root")
