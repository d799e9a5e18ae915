"""Test what the installed server answers, against tables: the paths, fields and statuses that
scripts rely on.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.world import DATASET, QUERY, SECRET
from tests.contracts import tables
from tests.contracts.distributions import Installation
from tests.contracts.office import Office, assert_near_the_exact_values
from tests.contracts.running import free_port, running
from tests.contracts.shapes import Shape, differences, variants

pytestmark = pytest.mark.slow

API = "/api/v1"
VISITS = f"{API}/queries/visits/releases"
LARGEST_BODY = 1 << 20


class Caller:
    """Call one running server as any of its users, by name."""

    def __init__(self, http: httpx.Client, tokens: dict[str, str]) -> None:
        self.http = http
        self.tokens = tokens

    def call(self, by: str | None, verb: str, path: str, **sent: Any) -> httpx.Response:
        """Send one request, with the token of ``by``."""
        headers = dict(sent.pop("headers", {}))
        if by is not None:
            headers["Authorization"] = f"Bearer {self.tokens[by]}"
        return self.http.request(verb, path, headers=headers, **sent)

    def answer(self, by: str, verb: str, path: str, body: object = None, status: int = 200) -> Any:
        """Return the document of a request that must succeed."""
        sent = {} if body is None else {"json": body}
        response = self.call(by, verb, path, **sent)
        assert response.status_code == status, response.text
        assert response.headers["Content-Type"] == "application/json"
        return response.json()

    def release(self, by: str, **wish: object) -> Any:
        """Release ``visits`` to the user ``by``, and return the answer."""
        return self.answer(by, "POST", VISITS, wish)


# Who may sign in: their role, and the tier that they are cleared for.
PEOPLE = {
    "ann": ("analyst", "public"),
    "ian": ("analyst", "internal"),
    "pia": ("analyst", "public"),
    "olga": ("auditor", None),
}

# In this order: what is created, by which body, and what the answer to it is.
CREATED: list[tuple[str, dict[str, Any], Shape]] = [
    ("tiers", {"name": "public", "rank": 10}, tables.TIER),
    ("tiers", {"name": "internal", "above": "public"}, tables.TIER),
    *(
        ("users", {"name": name, "roles": [role], "clearance": tier}, tables.USER)
        for name, (role, tier) in PEOPLE.items()
    ),
    *((f"users/{name}/tokens", {}, tables.TOKEN) for name in PEOPLE),
    ("datasets", DATASET, tables.DATASET),
    ("queries", QUERY, tables.QUERY),
    ("queries", SECRET, tables.QUERY),
]


@pytest.fixture(scope="module")
def caller(installed: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """Yield a running server with nothing in it but one admin."""
    office = Office(installed, tmp_path_factory.mktemp("office") / "empty")
    office.folder.mkdir()
    office.type("init")
    office.invite("root", "--role", "admin")
    port = free_port()
    command = [str(installed.programs / "penstock"), "serve", "--workers", "2"]
    environment = installed.environment(office.folder, PENSTOCK_PORT=str(port))
    with (
        running(command, office.folder, environment, port) as server,
        httpx.Client(base_url=server.url, timeout=600) as http,
    ):
        yield Caller(http, office.tokens)


@pytest.fixture(scope="module")
def created(caller: Caller) -> list[tuple[str, Any, Shape]]:
    """Return what was answered to each creation, with the shape that it must have."""
    answers = []
    for kind, body, shape in CREATED:
        answer = caller.answer("root", "POST", f"{API}/{kind}", body, status=201)
        if kind.endswith("/tokens"):
            caller.tokens[kind.split("/")[1]] = answer["token"]
        answers.append((f"{kind} {body.get('name', '')}", answer, shape))
    for name in ("ann", "ian"):
        caller.release(name)
    return answers


@pytest.fixture
def world(caller: Caller, created: object) -> Caller:
    """Return ``caller`` after every creation, and a release of ``visits`` to ann and to ian."""
    return caller


def test_the_tables_notice_whatever_is_missing_or_of_another_kind(world: Caller) -> None:
    """Leave out every field that a table names, or put something else in its place."""
    release = world.release("ann")
    known = {name: release[name] for name in tables.RELEASE}
    changed = list(variants(known))
    assert len(changed) > 40
    unnoticed = [
        how for how, document in changed if not list(differences(document, tables.RELEASE))
    ]
    # What the table does not name, of what lies within the fields that it names.
    assert unnoticed == [
        f"guarantee {change}"
        for name in ("mu", "pure_epsilon")
        for change in (f"without {name}", f"{name} of another kind")
    ]


def test_what_is_created_answers_as_in_its_table(created: list[tuple[str, Any, Shape]]) -> None:
    wrong = {what: list(differences(answer, shape)) for what, answer, shape in created}
    assert {what: found for what, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("by", "path", "shape"),
    [
        ("root", "/me", tables.ME),
        ("ann", "/me", tables.ME),
        ("ann", "/tiers", tables.listed(tables.TIER)),
        ("root", "/users", tables.listed(tables.USER)),
        ("root", "/users/ann", tables.USER),
        ("ann", "/users/ann/tokens", tables.listed(tables.HELD_TOKEN)),
        ("root", "/datasets", tables.listed(tables.DATASET)),
        ("root", "/datasets/sites", tables.DATASET),
        ("root", "/datasets/sites/budget", tables.BUDGET),
        ("ann", "/datasets/sites/budget", tables.BUDGET),
        ("root", "/queries", tables.listed(tables.QUERY)),
        ("ann", "/queries/visits", tables.QUERY),
        ("ann", "/releases", tables.listed(tables.HANDED_OUT)),
        ("olga", "/releases?user=ann&query=visits", tables.listed(tables.HANDED_OUT)),
        ("olga", "/audit/events?limit=500", tables.listed(tables.EVENT)),
        ("olga", "/audit/events?kind=release&user=ann", tables.listed(tables.HAND_OUT_EVENT)),
        ("olga", "/audit/exposure?users=ann,ian&dataset=sites", tables.EXPOSURE),
        ("ann", "/audit/exposure?users=ann&dataset=sites", tables.EXPOSURE),
        ("olga", "/audit/report?dataset=sites", tables.REPORT),
    ],
)
def test_what_is_read_answers_as_in_its_table(
    world: Caller, by: str, path: str, shape: Shape
) -> None:
    assert list(differences(world.answer(by, "GET", f"{API}{path}"), shape)) == []


@pytest.mark.parametrize("by", ["root", "ann"])
@pytest.mark.parametrize("body", [{**QUERY, "name": "planned"}, {"query": "visits"}])
def test_a_preview_answers_as_in_its_table(world: Caller, by: str, body: dict[str, object]) -> None:
    preview = world.answer(by, "POST", f"{API}/queries/preview", body)
    assert list(differences(preview, tables.PREVIEW)) == []


@pytest.mark.parametrize(
    "wish",
    [{}, {"tier": "internal"}, {"tier": "public"}, {"epsilon": 0.2}, {"rho": 1e-3}, {"level": 1e6}],
)
def test_a_release_answers_as_in_its_table_however_it_is_asked_for(
    world: Caller, wish: dict[str, object]
) -> None:
    release = world.release("ian", **wish)
    assert list(differences(release, tables.RELEASE)) == []
    assert release["keys"] == QUERY["keys"]
    assert_near_the_exact_values(release)
    assert world.release("ian", **wish) == release
    again = world.answer("ian", "GET", f"{API}/releases/{release['id']}/values")
    assert again == release
    held = world.answer("ian", "GET", f"{API}/releases/{release['id']}")
    assert list(differences(held, tables.HANDED_OUT)) == []
    assert "values" not in held


def test_a_promotion_acts_on_the_token_that_is_held(world: Caller) -> None:
    before = world.release("pia")
    changed = world.answer("root", "PATCH", f"{API}/users/pia", {"clearance": "internal"})
    assert list(differences(changed, tables.USER)) == []
    assert changed["clearance"] == "internal"
    after = world.release("pia")
    assert (before["tier"], after["tier"]) == ("public", "internal")
    assert after["id"] == world.release("ian")["id"]
    assert world.release("pia", tier="public") == before
    world.answer("root", "PATCH", f"{API}/users/pia", {"clearance": "public"})
    refused = world.call("pia", "POST", VISITS, json={"tier": "internal"})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("by", "path"),
    [
        ("ann", "/tiers"),
        ("root", "/users"),
        ("root", "/users/root/tokens"),
        ("root", "/datasets"),
        ("root", "/queries"),
        ("ian", "/releases"),
        ("olga", "/audit/events"),
    ],
)
def test_a_list_comes_whole_or_page_by_page(world: Caller, by: str, path: str) -> None:
    whole = world.answer(by, "GET", f"{API}{path}?limit=1000000")
    assert set(whole) == {"items", "next_cursor"}
    assert whole["next_cursor"] is None
    gathered, cursor = [], ""
    while cursor is not None:
        page = world.answer(by, "GET", f"{API}{path}?limit=1{cursor and f'&cursor={cursor}'}")
        assert len(page["items"]) == 1
        gathered += page["items"]
        cursor = page["next_cursor"]
    assert gathered == whole["items"]


def test_a_release_leaves_its_receipt_in_the_log(world: Caller) -> None:
    receipt = world.release("ann")["receipt"]
    page = world.answer("olga", "GET", f"{API}/audit/events?kind=release&user=ann")
    assert receipt["leaf_hash"] in {event["leaf_hash"] for event in page["items"]}


@pytest.mark.parametrize(
    ("by", "verb", "path", "sent", "status", "code"),
    [
        (None, "GET", "/queries", {}, 401, "NOT_AUTHENTICATED"),
        ("nobody", "GET", "/me", {}, 401, "NOT_AUTHENTICATED"),
        ("ann", "POST", "/tiers", {"json": {"name": "own"}}, 403, "FORBIDDEN"),
        ("root", "POST", "/queries/visits/releases", {"json": {}}, 403, "FORBIDDEN"),
        ("ann", "GET", "/audit/events", {}, 403, "FORBIDDEN"),
        *[
            ("ann", "POST", "/queries/visits/releases", {"json": wish}, 403, "CLEARANCE_TOO_LOW")
            for wish in ({"tier": "internal"}, {"epsilon": 0.4})
        ],
        ("ann", "POST", "/queries/nothing/releases", {"json": {}}, 404, "NOT_FOUND"),
        ("ann", "POST", "/queries/secret/releases", {"json": {}}, 404, "NOT_FOUND"),
        ("ann", "GET", "/releases/00000000-0000-4000-8000-000000000000", {}, 404, "NOT_FOUND"),
        ("root", "GET", "/nowhere", {}, 404, "NOT_FOUND"),
        ("root", "PUT", "/tiers", {"json": {}}, 405, "METHOD_NOT_ALLOWED"),
        ("root", "POST", "/tiers", {"json": {"name": "PUBLIC"}}, 409, "NAME_TAKEN"),
        ("root", "POST", "/tiers", {"content": b" " * (LARGEST_BODY + 1)}, 413, "BODY_TOO_LARGE"),
        (
            *("root", "POST", "/tiers"),
            *({"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
            "UNSUPPORTED_MEDIA_TYPE",
        ),
    ],
)
def test_a_refusal_is_a_problem_document(
    world: Caller,
    by: str | None,
    verb: str,
    path: str,
    sent: dict[str, Any],
    status: int,
    code: str,
) -> None:
    world.tokens["nobody"] = "pst_nobody"
    assert_problem(call_with(world, by, verb, path, sent), status, code)


@pytest.mark.parametrize(
    ("path", "sent", "status", "code", "pointer"),
    [
        ("/tiers", {"content": b"{"}, 400, "MALFORMED", ""),
        ("/queries", {"json": {**QUERY, "name": "odd", "surprise": 1}}, 422, None, "/surprise"),
        ("/users", {"json": {"name": "eve", "roles": ["king"]}}, 422, None, "/roles/0"),
        ("/queries/visits/releases", {"json": {"epsilon": -1}}, 422, None, "/epsilon"),
    ],
)
def test_a_request_that_cannot_be_meant_says_where(
    world: Caller, path: str, sent: dict[str, Any], status: int, code: str | None, pointer: str
) -> None:
    by = "ann" if path.endswith("releases") else "root"
    problem = assert_problem(
        call_with(world, by, "POST", path, sent), status, code or "INVALID_INPUT"
    )
    assert list(differences(problem, tables.PROBLEM_WITH_PLACES)) == []
    assert pointer in {error["pointer"] for error in problem["errors"]}


def test_an_exhausted_budget_says_what_was_needed_and_what_would_fit(world: Caller) -> None:
    big = {**QUERY, "name": "big", "levels": {"public": {"epsilon": 50}}}
    response = world.call("root", "POST", f"{API}/queries", json=big)
    problem = assert_problem(response, 409, "BUDGET_EXHAUSTED")
    assert list(differences(problem, tables.EXHAUSTED)) == []
    assert problem["needed_share"] > problem["remaining_share"] >= problem["largest_share"]
    assert "visits" in problem["detail"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/docs/", "text/html; charset=utf-8"),
        ("/healthz", "application/json"),
        ("/readyz", "application/json"),
        ("/openapi.json", "application/json"),
    ],
)
def test_these_answer_anybody(world: Caller, path: str, kind: str) -> None:
    response = world.call(None, "GET", path)
    assert (response.status_code, response.headers["Content-Type"]) == (200, kind)


def test_the_document_describes_every_path_of_the_tables(world: Caller) -> None:
    document = world.call(None, "GET", "/openapi.json").json()
    assert list(differences(document, tables.DOCUMENT)) == []
    named = {f"{API}/{kind}" for kind, _, _ in CREATED if "/" not in kind}
    assert named < set(document["paths"])


def call_with(
    world: Caller, by: str | None, verb: str, path: str, sent: dict[str, Any]
) -> httpx.Response:
    """Send one request below the API's prefix; bytes are declared JSON unless a type is given."""
    headers = {"Content-Type": "application/json", **sent.get("headers", {})}
    return world.call(by, verb, f"{API}{path}", **{**sent, "headers": headers})


def assert_problem(response: httpx.Response, status: int, code: str) -> Any:
    """Return the problem document of a refusal, which is as in its table."""
    assert response.headers["Content-Type"] == "application/problem+json", response.text
    problem = json.loads(response.content)
    assert (response.status_code, problem["status"], problem["code"]) == (status, status, code)
    assert list(differences(problem, tables.PROBLEM)) == []
    assert problem["type"] == "/problems/" + code.lower().replace("_", "-")
    assert problem["request_id"] == response.headers["X-Request-Id"]
    return problem
