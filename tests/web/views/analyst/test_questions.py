"""Test the editor: a question in SQL is previewed, tried on made-up rows, and registered."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.api.world import World
from tests.web.world import Browser, Open, text_of

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec

SQL = 'SELECT COUNT(*) AS n FROM "loans" WHERE book > 9'
ASKED = {
    "dataset": "loans",
    "sql": SQL,
    "name": "late loans",
    "max_groups": "1",
    "max_rows": "3",
    "mechanism": "gaussian",
    "wish": "epsilon",
    "level public": "0.1",
    "level internal": "0.5",
}
BODY: dict[str, Any] = {
    "name": "late loans",
    "sql": SQL,
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
}


@pytest.mark.usefixtures("unchanged")
def test_the_declared_columns_stand_beside_the_editor(browse: Open, world: World) -> None:
    page = browse("ann").get("/ask/sql?dataset=loans")
    words = text_of(page)
    for name, column in world.answer("GET", "/api/v1/datasets/loans", by="ann")["columns"].items():
        assert f"{name} {column['type']}" in words
        for category in (column.get("categories") or [])[:3]:
            assert category in words
    assert html.unescape(page.text).count('SELECT COUNT(*) AS n\nFROM "loans"') == 1
    assert 'name="level public"' in page.text
    assert 'name="level internal"' not in page.text, "an analyst gives the level of their own tier"
    assert 'name="level internal"' in browse("root").get("/ask/sql?dataset=loans").text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("caller", ["root", "ian"])
def test_a_preview_on_the_page_is_that_of_the_api(browse: Open, world: World, caller: str) -> None:
    page = browse(caller).previewed("/ask/sql/preview", **ASKED)
    assert page.status_code == 200, text_of(page)
    levels = BODY["levels"] if caller == "root" else {"internal": {"epsilon": 0.5}}
    body = {**BODY, "levels": levels}
    preview = world.answer("POST", "/api/v1/queries/preview", body, by=caller)
    for tier in preview["tiers"]:
        row = (
            f"{tier['tier']} {tier['guarantee']['epsilon']:.3g} ±{tier['error']['half_width']:.3g}"
        )
        assert row in text_of(page)
    assert html.escape(SQL, quote=False) in page.text or SQL in html.unescape(page.text)


@pytest.mark.usefixtures("unchanged")
def test_a_preview_comes_alone_where_a_script_asks(browse: Open) -> None:
    ann = browse("ann")
    fields = {**ASKED, "form_key": ann.form_key()}
    headers = {"Origin": "http://127.0.0.1:8080", "HX-Request": "true"}
    page = ann.client.post(
        "/ask/sql/preview", base_url="https://127.0.0.1:8080", headers=headers, data=fields
    )
    assert page.status_code == 200
    assert "<html" not in page.text
    assert "Share of its budget" in page.text


@pytest.mark.usefixtures("unchanged")
def test_a_question_is_tried_on_made_up_rows_before_it_has_a_level(
    browse: Open, world: World
) -> None:
    fields = {name: text for name, text in ASKED.items() if not name.startswith("level")}
    page = browse("ann").previewed("/ask/sql/dummy", **fields)
    assert page.status_code == 200, text_of(page)
    assert "On 100 made-up rows" in text_of(page)
    query = {**BODY, "levels": {"public": {"epsilon": 0.1}}}
    answer = world.answer("POST", "/api/v1/queries/dummy", {"query": query}, by="ann")
    for number in answer["numbers"]:
        assert f"Statistic Value n {number['value']:.3g}" in text_of(page)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"sql": "SELECT COUNT(*) FROM loans LIMIT 3"}, "sql"),
        ({"sql": ""}, "sql"),
        ({"sql": "SELECT AVG(absent) FROM loans"}, "sql"),
        ({"max_rows": "x"}, "max_rows"),
        ({"name": ""}, "name"),
        ({"level public": "x"}, "level-2"),
    ],
)
def test_nonsense_comes_back_with_its_reason_beside_it(
    root: Browser, fields: dict[str, str], place: str
) -> None:
    for path in ("/ask/sql/preview", "/ask/sql"):
        page = root.previewed(path, **{**ASKED, **fields}, once="2")
        assert page.status_code == 422, text_of(page)
        assert f'id="{place}-wrong"' in page.text, text_of(page)
        assert 'value="0.5"' in page.text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("sql", "refused"),
    [
        (f"{SQL} LIMIT 3", "Leave LIMIT out"),
        (SQL.replace("book", "absent"), "no column of this name"),
        (SQL.replace("loans", "absent"), None),
        (SQL, None),
    ],
)
def test_all_mistakes_are_shown_at_once(root: Browser, sql: str, refused: str | None) -> None:
    without = {**ASKED, "sql": sql, "level public": "", "level internal": ""}
    for path in ("/ask/sql/preview", "/ask/sql"):
        page = root.previewed(path, **without, once="4")
        assert page.status_code == 422, text_of(page)
        assert "Enter a level for at least one tier" in text_of(page)
        assert ('id="sql-wrong"' in page.text) == (refused is not None)
        assert (refused or "") in text_of(page)


@pytest.mark.usefixtures("unchanged")
def test_a_refusal_names_the_place_in_the_text(root: Browser) -> None:
    page = root.previewed(
        "/ask/sql/dummy", **{**ASKED, "sql": "SELECT COUNT(*) FROM loans LIMIT 3"}
    )
    assert page.status_code == 422
    assert re.search(r"Line 1, column \d+: .*LIMIT", text_of(page))


@pytest.mark.usefixtures("unchanged")
def test_who_may_not_register_is_told_so_and_keeps_the_text(browse: Open) -> None:
    page = browse("ian").submit("/ask/sql", **ASKED, once="3")
    assert page.status_code == 403
    assert "Nothing was done." in text_of(page)
    assert SQL in html.unescape(page.text)


def test_a_question_is_registered_once_and_is_in_ones_own_history(
    browse: Open, root: Browser, world: World
) -> None:
    assert "You have registered no question yet" not in text_of(root.get("/ask/sql"))
    assert 'href="/queries/late%20loans"' not in root.get("/ask/sql").text
    first = root.submit("/ask/sql", **ASKED, once="k" * 32)
    assert first.status_code == 303, text_of(first)
    assert root.submit("/ask/sql", **ASKED, once="k" * 32).location == first.location
    shown = world.answer("GET", "/api/v1/queries/late%20loans", by="root")
    assert shown["spec"]["contribution"] == BODY["contribution"]
    assert 'href="/queries/late%20loans"' in root.get("/ask/sql").text
    assert "You have registered no question yet" in text_of(browse("ann").get("/ask/sql"))


@pytest.mark.usefixtures("unchanged")
def test_a_dataset_out_of_sight_is_neither_listed_nor_asked(browse: Open) -> None:
    noa = browse("noa")
    assert "There is no dataset with columns" in text_of(noa.get("/ask/sql"))
    assert noa.previewed("/ask/sql/dummy", **ASKED).status_code == 404


OWN = {**ASKED, "purpose": "The yearly report"}


def test_a_question_is_requested_once_and_is_listed_with_its_state(
    browse: Open, root: Browser, world: World
) -> None:
    ian = browse("ian")
    first = ian.submit("/ask/sql/request", **OWN, once="r" * 32)
    assert first.status_code == 303, text_of(first)
    assert ian.submit("/ask/sql/request", **OWN, once="r" * 32).location == first.location
    assert ian.submit("/ask/sql/request", **OWN, once="s" * 32).location == first.location
    assert "Your request is sent" in text_of(ian.get(first.location))
    [sent] = world.answer("GET", "/api/v1/requests", by="ian")["items"]
    assert (sent["purpose"], sent["spec"]["levels"]) == (
        "The yearly report",
        {"internal": {"epsilon": 0.5}},
    )
    own = text_of(ian.get("/ask/sql"))
    assert "late loans loans requested, open none" in own
    assert "late loans" not in text_of(browse("ann").get("/ask/sql"))
    assert "late loans" not in text_of(root.get("/ask/sql"))
    other = ian.submit("/ask/sql/request", **{**OWN, "purpose": "Another"}, once="t" * 32)
    assert other.status_code == 409
    assert "another purpose" in text_of(other)
    assert "Another</textarea>" in other.text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("fields", "place"), [({"purpose": " "}, "purpose"), ({"level internal": "x"}, "level-1")]
)
def test_a_request_with_an_error_comes_back_with_its_reason_and_all_that_was_typed(
    browse: Open, fields: dict[str, str], place: str
) -> None:
    page = browse("ian").submit("/ask/sql/request", **{**OWN, **fields}, once="5")
    assert page.status_code == 422, text_of(page)
    assert f'id="{place}-wrong"' in page.text
    assert SQL in html.unescape(page.text)
    assert ("The yearly report" in page.text) == ("purpose" not in fields)


def test_a_request_for_a_registered_question_leads_to_its_query_at_no_charge(
    browse: Open, root: Browser, world: World
) -> None:
    root.submit("/ask/sql", **{**ASKED, "name": "in time", "level public": ""}, once="6")
    spent = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")
    ian, ann = browse("ian"), browse("ann")
    led = ian.submit("/ask/sql/request", **OWN, once="7")
    assert led.location == "/queries/in%20time?requested=1"
    assert "Nothing was requested, and nothing is charged" in text_of(ian.get(led.location))
    hidden = ann.submit("/ask/sql/request", **{**OWN, "name": "mine"}, once="8")
    assert hidden.location.startswith("/requests/"), "she does not see that query"
    assert "in time" not in text_of(ann.get(hidden.location))
    assert world.answer("GET", "/api/v1/datasets/loans/budget", by="root") == spent


def test_an_allowance_lets_an_analyst_register_and_is_shown_with_what_is_left(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    before = ian.get("/ask/sql?dataset=loans")
    assert "Register question" not in before.text
    assert "Budget of internal 80.8% left of epsilon 4 Your allowance none" in text_of(before)
    path = "/api/v1/datasets/loans/allowances/internal"
    world.answer("PUT", path, {"epsilon": 0.6}, by="root")
    page = ian.get("/ask/sql?dataset=loans")
    assert "Register question" in page.text
    assert "Request question" in page.text
    assert "Your allowance 100% left of epsilon 0.6" in text_of(page)
    assert "Your allowance of internal has 100% left. Registering this question takes" in text_of(
        ian.previewed("/ask/sql/preview", **ASKED)
    )
    greedy = ian.previewed("/ask/sql/preview", **{**ASKED, "level internal": "0.9"})
    assert "which is too much: request it" in text_of(greedy)
    registered = ian.submit("/ask/sql", **ASKED, once="9")
    assert registered.status_code == 303, text_of(registered)
    assert "late loans loans registered, active late loans" in text_of(ian.get("/ask/sql"))
    assert "100% left" not in text_of(ian.get("/ask/sql?dataset=loans"))


def test_an_admin_who_is_an_analyst_lists_their_own_questions_alone(
    browse: Open, world: World
) -> None:
    both = UserSpec(name="bea", roles=["analyst", "admin"], clearance="internal")
    users.create(world.server, OPERATOR, both)
    world.tokens["bea"] = tokens.issue(world.server, OPERATOR, "bea", TokenSpec()).token
    browse("ian").submit("/ask/sql/request", **OWN, once="10")
    bea = browse("bea")
    page = bea.get("/ask/sql?dataset=loans")
    assert "late loans" not in text_of(page)
    assert "Register question" in page.text
    assert "Request question" in page.text
    mine = {**OWN, "name": "of bea", "sql": SQL.replace("9", "5")}
    assert bea.submit("/ask/sql/request", **mine, once="11").status_code == 303
    assert "of bea loans requested, open" in text_of(bea.get("/ask/sql"))


def test_requests_are_answered_at_multiples_of_the_quantum(browse: Open, world: World) -> None:
    """Otherwise the time of an answer could distinguish a hidden query from none."""
    ian = browse("ian")
    ian.form_key()
    world.stopwatch.slept.clear()
    sent = ian.submit("/ask/sql/request", **OWN, once="12")
    assert world.stopwatch.slept
    world.stopwatch.slept.clear()
    assert ian.get(sent.location).status_code == 200
    assert world.stopwatch.slept
    world.stopwatch.slept.clear()
    assert ian.get("/catalogue").status_code == 200
    assert not world.stopwatch.slept


def test_who_tried_many_questions_in_a_minute_is_told_so_and_keeps_the_text(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(questions_per_minute=2)
    ann, root = (Browser(world, world.client.application.test_client()) for _ in range(2))
    ann.sign_in("ann")
    root.sign_in("root")
    for path in ("/ask/sql/preview", "/ask/sql/dummy"):
        assert ann.previewed(path, **ASKED).status_code == 200
    for path in ("/ask/sql/preview", "/ask/sql/dummy", "/ask/sql", "/ask/sql/request"):
        refused = ann.previewed(path, once=path, **ASKED)
        assert refused.status_code == 429
        assert "more than 2 questions in a minute" in text_of(refused)
        assert SQL in html.unescape(refused.text)
    for _ in range(3):
        assert root.previewed("/ask/sql/preview", **ASKED).status_code == 200


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("path", ["/ask/sql/preview", "/ask/sql/dummy"])
def test_what_was_typed_is_at_an_address_that_tells_nothing_and_nobody_else_opens(
    browse: Open, path: str
) -> None:
    ian, fields = browse("ian"), {**ASKED, "name": "late loans of mine"}
    sent = ian.submit(path, **fields, once="p" * 32)
    assert sent.status_code == 303
    place = sent.location.partition("#")[0]
    assert place.startswith("/ask/sql?typed=")
    for word in ("late", "loans", "SELECT"):
        assert word not in place
    for _ in range(2):
        page = ian.get(place)
        assert page.status_code == 200
        assert 'value="late loans of mine"' in page.text
        assert "p" * 32 in page.text
    other = browse("ann").get(place)
    assert other.status_code == 422
    assert "no form of yours" in text_of(other)
    assert ian.get(place.replace("/ask/sql", "/new/query")).status_code == 422
    assert ian.get(f"{place}x").status_code == 422


@pytest.mark.usefixtures("unchanged")
def test_a_long_question_is_previewed_where_it_was_sent(browse: Open) -> None:
    text = f"{SQL} AND book NOT IN ({', '.join(map(str, range(1000, 2000)))})"
    page = browse("ian").submit("/ask/sql/preview", **{**ASKED, "sql": text})
    assert page.status_code == 200, text_of(page)
    assert "Share of its budget" in page.text
