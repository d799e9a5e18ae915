"""Test refusals: one shape for all, and nothing in them that the caller may not know."""

from typing import Any

import pytest
from tests.api.world import DATASET, QUERY, World, parsed

from penstock import errors
from penstock.http import problems
from penstock.services.people import users

MEMBERS = {"type", "title", "status", "detail", "code", "errors", "request_id"}
ASK = "/api/v1/queries/visits/releases"


def refused(world: World, status: int, verb: str, path: str, body: Any = None, **more: Any) -> Any:
    """Return the problem document of a request that is refused."""
    response = world.call(verb, path, body, **more)
    assert response.status_code == status, response.text
    assert response.content_type == "application/problem+json"
    problem = parsed(response)
    assert set(problem) >= MEMBERS
    assert problem["status"] == status
    assert problem["type"] == "/problems/" + problem["code"].lower().replace("_", "-")
    assert problem["request_id"] == response.headers["X-Request-Id"]
    return problem


def tree() -> list[type[errors.PenstockError]]:
    """Return every class of error."""
    found = [errors.PenstockError]
    for kind in found:
        found += kind.__subclasses__()
    return found[1:]


@pytest.mark.parametrize("kind", tree())
def test_every_error_has_a_status_of_its_own_or_of_what_it_is(
    kind: type[errors.PenstockError],
) -> None:
    status = problems.status_of(kind("It did not work."))
    assert status in {400, 401, 403, 404, 409, 422, 429, 503}
    assert status in problems.TITLES


@pytest.mark.parametrize(
    ("status", "code", "verb", "path", "body", "by"),
    [
        (401, "NOT_AUTHENTICATED", "GET", "/api/v1/me", None, None),
        (403, "FORBIDDEN", "GET", "/api/v1/users", None, "ann"),
        (403, "CLEARANCE_TOO_LOW", "POST", ASK, {"tier": "internal"}, "ann"),
        (404, "NOT_FOUND", "GET", "/api/v1/queries/none", None, "root"),
        (404, "NOT_FOUND", "GET", "/api/v1/nothing", None, None),
        (404, "NOT_FOUND", "GET", "//api/v1/me", None, "ann"),
        (404, "NOT_FOUND", "GET", "/api/v1/me/", None, "ann"),
        (405, "METHOD_NOT_ALLOWED", "PUT", "/api/v1/me", None, "ann"),
        (405, "METHOD_NOT_ALLOWED", "OPTIONS", "/api/v1/me", None, None),
        (409, "NAME_TAKEN", "POST", "/api/v1/tiers", {"name": "PUBLIC"}, "root"),
        (409, "NAME_TAKEN", "POST", "/api/v1/queries", QUERY, "root"),
        (422, "INVALID_INPUT", "POST", "/api/v1/tiers", {"name": ""}, "root"),
    ],
)
def test_refusals_have_one_shape(
    world: World, status: int, code: str, verb: str, path: str, body: Any, by: str | None
) -> None:
    assert refused(world, status, verb, path, body, by=by)["code"] == code


def test_a_method_that_is_not_allowed_names_those_that_are(world: World) -> None:
    response = world.call("PUT", "/api/v1/tiers", by="root")
    assert {"GET", "POST"} <= set(response.headers["Allow"].split(", "))


def test_a_refused_token_says_how_to_authenticate_and_nothing_of_the_reason(world: World) -> None:
    bodies = []
    for caller in (None, "malformed", "expired", "revoked", "gone"):
        response = world.call("GET", "/api/v1/me", by=caller)
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        bodies.append({**parsed(response), "request_id": ""})
    for header in ("", "Basic cm9vdDpyb290", "Bearer", "Bearer ", "bearer x y", "pst_"):
        response = world.call("GET", "/api/v1/me", headers={"Authorization": header})
        bodies.append({**parsed(response), "request_id": ""})
    assert all(body == bodies[0] for body in bodies)


def test_the_scheme_of_a_token_is_bearer_in_any_case_and_no_other(world: World) -> None:
    header = {"Authorization": f"bEARER  {world.tokens['ann']}"}
    assert world.call("GET", "/api/v1/me", headers=header).status_code == 200
    for other in ("Basic", "Token", "Bearer:", "BearerBearer"):
        header = {"Authorization": f"{other} {world.tokens['ann']}"}
        assert world.call("GET", "/api/v1/me", headers=header).status_code == 401
    header = {"Authorization": world.tokens["ann"]}
    assert world.call("GET", "/api/v1/me", headers=header).status_code == 401


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "/api/v1/queries/{}", None),
        ("POST", "/api/v1/queries/{}/releases", {}),
        ("POST", "/api/v1/queries/{}/releases", {"tier": "internal"}),
        ("POST", "/api/v1/queries/{}/releases", {"tier": "unheard-of"}),
        ("POST", "/api/v1/queries/{}/releases", {"level": 1e-9}),
        ("GET", "/api/v1/releases?query={}", None),
    ],
)
def test_what_is_out_of_sight_looks_like_what_does_not_exist(
    world: World, verb: str, path: str, body: Any
) -> None:
    """``secret`` exists, for tiers above ann's."""
    hidden = refused(world, 404, verb, path.format("secret"), body, by="ann")
    missing = refused(world, 404, verb, path.format("absent"), body, by="ann")
    assert hidden["detail"].replace("secret", "absent") == missing["detail"]
    for problem in (hidden, missing):
        problem["detail"] = problem["request_id"] = ""
    assert hidden == missing


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/datasets/{}",
        "/api/v1/datasets/{}/budget",
        "/api/v1/queries?dataset={}",
        "/api/v1/audit/exposure?users=ann&dataset={}",
    ],
)
def test_a_dataset_without_a_budget_for_the_callers_tier_looks_like_none(
    world: World, path: str
) -> None:
    closed = {**DATASET, "name": "closed", "budgets": {"internal": {"epsilon": 1}}}
    world.answer("POST", "/api/v1/datasets", closed, by="root")
    hidden = refused(world, 404, "GET", path.format("closed"), by="ann")
    missing = refused(world, 404, "GET", path.format("absent"), by="ann")
    assert hidden["detail"].replace("closed", "absent") == missing["detail"]
    assert hidden["code"] == missing["code"]


def test_the_release_of_another_looks_like_none(world: World) -> None:
    held = world.answer("GET", "/api/v1/releases", by="ann")["items"][0]["id"]
    other = held[:-4] + ("0000" if held[-4:] != "0000" else "1111")
    for path in ("/api/v1/releases/{}", "/api/v1/releases/{}/values"):
        theirs = refused(world, 404, "GET", path.format(held), by="ian")
        none = refused(world, 404, "GET", path.format(other), by="ian")
        assert theirs["detail"].replace(held, other) == none["detail"]


def test_an_exhausted_budget_says_what_was_needed_what_is_left_and_what_would_fit(
    world: World,
) -> None:
    big = {**QUERY, "name": "big", "levels": {"public": {"epsilon": 50}}}
    problem = refused(world, 409, "POST", "/api/v1/queries", big, by="root")
    assert problem["code"] == "BUDGET_EXHAUSTED"
    assert problem["tier"] == "public"
    assert problem["needed_share"] > problem["remaining_share"] > problem["largest_share"] > 0
    assert [entry["query"] for entry in problem["spent_by"]] == ["visits"]


def test_the_largest_share_that_is_named_does_fit(world: World) -> None:
    big = {**QUERY, "name": "big", "levels": {"public": {"epsilon": 50}}}
    share = parsed(world.call("POST", "/api/v1/queries", big, by="root"))["largest_share"]
    fits = {key: value for key, value in big.items() if key != "levels"}
    answer = world.call("POST", "/api/v1/queries", {**fits, "share": share}, by="root")
    assert answer.status_code == 201, answer.text


def test_wrong_fields_are_named_by_json_pointer(world: World) -> None:
    body = {**QUERY, "name": "odd", "surprise": 1, "sensitivity": {"l1": "much"}}
    problem = refused(world, 422, "POST", "/api/v1/queries", body, by="root")
    pointers = {error["pointer"] for error in problem["errors"]}
    assert {"/surprise", "/sensitivity/l1"} <= pointers
    assert all(error["detail"] for error in problem["errors"])


def test_a_fault_of_ours_is_a_500_that_repeats_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("canary-4711")

    monkeypatch.setattr(users, "me", fail)
    problem = refused(world, 500, "GET", "/api/v1/me", by="ann")
    assert problem["code"] == "INTERNAL"
    assert "canary" not in str(problem)
    assert "KeyError" not in str(problem)


@pytest.mark.parametrize(
    ("error", "retry"),
    [
        (errors.DatabaseUnavailable("The database is locked.", path="/secret/folder"), True),
        (errors.SchemaUnknown("The database has another schema."), False),
        (errors.KeysUnavailable("The key ring is missing."), False),
        (errors.IntegrityViolation("A row does not authenticate."), False),
    ],
)
def test_a_server_that_cannot_serve_says_so_and_when_to_come_back(
    world: World, monkeypatch: pytest.MonkeyPatch, error: errors.PenstockError, retry: bool
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(users, "me", fail)
    problem = refused(world, 503, "GET", "/api/v1/me", by="ann")
    assert problem["detail"] == error.detail
    assert "/secret/folder" not in str(problem)
    response = world.call("GET", "/api/v1/me", by="ann")
    assert ("Retry-After" in response.headers) is retry


@pytest.mark.parametrize(
    "arguments",
    [
        *("limit=0", "limit=-1", "limit=many", "limit=1&limit=2", "cursor=none", "surprise=1"),
        *("kind=gossip", "since=yesterday", "since=2026-11-20", "until=2026-11-20T12:00:00"),
        *("since=1700000000", "kind=release&kind=user"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(world: World, arguments: str) -> None:
    problem = refused(world, 422, "GET", f"/api/v1/audit/events?{arguments}", by="olga")
    assert problem["errors"][0]["pointer"] == "/" + arguments.partition("=")[0]


def test_an_argument_that_is_needed_is_asked_for(world: World) -> None:
    problem = refused(world, 422, "GET", "/api/v1/audit/exposure?dataset=sites", by="olga")
    assert problem["errors"] == [{"pointer": "/users", "detail": "This argument is required."}]
