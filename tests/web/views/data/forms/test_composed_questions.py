"""Test the form for analysts: it shows what they may see, and refuses what they may not do."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.api.world import World
from tests.web.staff import COUNT
from tests.web.world import Browser, Open, text_of

QUESTION = {
    **COUNT,
    "name": "late loans",
    "where 0": "book",
    "op 0": ">",
    "value 0": "9",
    "level public": "",
}
SQL = {
    "dataset": "loans",
    "sql": 'SELECT COUNT(*) AS n FROM "loans" WHERE book > 9',
    "name": "late loans",
    "max_groups": "1",
    "max_rows": "3",
    "mechanism": "gaussian",
    "wish": "epsilon",
    "level internal": "0.5",
}
PURPOSE = "The yearly report"
FORM, PREVIEW, SEND = "/new/query", "/new/query/preview", "/new/query/request"
GOES_ON = re.compile(r'href="(/ask/sql\?typed=[^"#]+)#outcome">Go on with this question in SQL')
WRITTEN = re.compile(r'<textarea id="sql"[^>]*>\n(.*?)</textarea>', re.DOTALL)
ALLOWANCE = "/api/v1/datasets/loans/allowances/internal"


def script(browser: Browser, **fields: Any) -> tuple[int, str]:
    """Return the status and text of a preview that the page's script fetches."""
    headers = {"Origin": "http://127.0.0.1:8080", "HX-Request": "true"}
    sent = {**fields, "form_key": browser.form_key()}
    page = browser.client.post(
        PREVIEW, base_url="https://127.0.0.1:8080", headers=headers, data=sent
    )
    return page.status_code, page.text


@pytest.mark.usefixtures("unchanged")
def test_the_form_has_the_columns_in_sight_and_the_level_of_ones_own_tier(browse: Open) -> None:
    page = browse("ian").get(f"{FORM}?dataset=loans")
    assert page.status_code == 200
    assert "Ask in a form" in text_of(page)
    assert '<option value="book">' in page.text
    assert 'name="level internal"' in page.text
    assert 'name="level public"' not in page.text
    assert 'name="share"' not in page.text
    assert 'value="share"' not in page.text
    for admins in ("kind=vector", "/new/stream", "Compare all noise", "Register"):
        assert admins not in page.text
    assert "Request question" in page.text
    assert 'name="level public"' in browse("root").get(f"{FORM}?dataset=loans").text


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("kind", ["statistic", "counts", "sparse", "sql", "vector"])
def test_a_dataset_out_of_sight_has_no_form(browse: Open, kind: str) -> None:
    for caller, dataset in (("noa", "loans"), ("ann", "closed")):
        browser = browse(caller)
        page = browser.get(f"{FORM}?kind={kind}&dataset={dataset}")
        missing = browser.get(f"{FORM}?kind={kind}&dataset=absent")
        assert page.status_code == 200
        assert 'name="name"' not in page.text
        assert page.text.replace(dataset, "") == missing.text.replace("absent", "")
    assert "There is no dataset with columns" in text_of(browse("noa").get(FORM))


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("path", [PREVIEW, FORM, SEND])
def test_a_dataset_out_of_sight_is_refused_as_a_missing_one(browse: Open, path: str) -> None:
    noa = browse("noa")
    hidden = noa.previewed(path, **QUESTION, purpose=PURPOSE, once="a" * 32)
    fields = {**QUESTION, "dataset": "absent"}
    missing = noa.previewed(path, **fields, purpose=PURPOSE, once="b" * 32)
    assert hidden.status_code == missing.status_code == 404
    texts = [text_of(page).partition(" · request ")[0] for page in (hidden, missing)]
    assert texts[0].replace("loans", "") == texts[1].replace("absent", "")


@pytest.mark.usefixtures("unchanged")
def test_a_column_that_is_not_declared_is_refused_in_its_place(browse: Open) -> None:
    page = browse("ian").previewed(PREVIEW, **{**QUESTION, "where 0": "absent"})
    assert page.status_code == 422
    assert 'id="where-0-wrong"' in page.text


FORCED = [
    {"level public": "0.1"},
    {"level absent": "0.1"},
    {"level INTERNAL": "0.1"},
    {"wish": "share", "share": "0.1"},
    {"share": "0.1"},
    {"kind": "sparse", "false public": "0.1"},
]
TAKEN = {"take": "level+public=0.1"}
"""What a preview's choice puts in, which a preview alone reads."""


@pytest.mark.parametrize("path", [PREVIEW, FORM, SEND])
def test_levels_of_other_tiers_are_refused(browse: Open, world: World, path: str) -> None:
    world.answer("PUT", ALLOWANCE, {"epsilon": 2}, by="root")
    ian = browse("ian")
    for number, forced in enumerate([*FORCED, *([TAKEN] if path == PREVIEW else [])]):
        fields = {**QUESTION, **forced, "purpose": PURPOSE, "once": f"{number:032}"}
        page = ian.previewed(path, **fields)
        assert page.status_code == 422, text_of(page)
        assert "level of your own tier" in text_of(page)
    assert world.answer("GET", "/api/v1/requests", by="ian")["items"] == []
    [query] = world.answer("GET", "/api/v1/queries?dataset=loans", by="root")["items"]
    assert query["name"] == "books"


@pytest.mark.usefixtures("unchanged")
def test_a_tier_above_is_refused_as_one_that_does_not_exist(browse: Open) -> None:
    ann, texts = browse("ann"), []
    for tier in ("internal", "absent"):
        fields = {**QUESTION, "level internal": "", f"level {tier}": "0.1"}
        page = ann.previewed(PREVIEW, **fields, once="d" * 32)
        assert page.status_code == 422
        texts.append(text_of(page).replace(tier, ""))
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("path", [PREVIEW, FORM, SEND])
def test_numbers_of_ones_own_are_for_admins(browse: Open, path: str) -> None:
    fields = {**QUESTION, "kind": "vector", "dataset": "sites", "values": "1\n2", "l1": "1"}
    page = browse("ian").previewed(path, **fields, purpose=PURPOSE, once="e" * 32)
    assert page.status_code == 403
    assert "This takes the role admin" in text_of(page)


@pytest.mark.usefixtures("unchanged")
def test_a_comparison_is_for_admins(browse: Open) -> None:
    page = browse("ian").previewed(PREVIEW, **QUESTION, compare="1", once="f" * 32)
    assert page.status_code == 403


@pytest.mark.usefixtures("unchanged")
def test_auditors_stay_out(browse: Open) -> None:
    olga = browse("olga")
    assert olga.get(FORM).status_code == 403
    for path in (PREVIEW, FORM, SEND):
        assert olga.previewed(path, **QUESTION, purpose=PURPOSE, once="g" * 32).status_code == 403


@pytest.mark.usefixtures("unchanged")
def test_a_preview_is_that_of_the_same_statistic_in_sql(browse: Open, world: World) -> None:
    ian = browse("ian")
    body = {
        **{part: SQL[part] for part in ("name", "sql", "mechanism")},
        "contribution": {"max_groups": 1, "max_rows_per_group": 3},
        "levels": {"internal": {"epsilon": 0.5}},
    }
    [tier] = world.answer("POST", "/api/v1/queries/preview", body, by="ian")["tiers"]
    row = f"internal {tier['guarantee']['epsilon']:.3g} ±{tier['error']['half_width']:.3g}"
    in_sql, page = ian.previewed("/ask/sql/preview", **SQL), ian.previewed(PREVIEW, **QUESTION)
    status, part = script(ian, **QUESTION)
    assert (page.status_code, status) == (200, 200)
    assert "<html" not in part
    for shown in (text_of(in_sql), text_of(page)):
        assert row in shown
    assert "Share of its budget" in part


def test_a_question_in_the_form_and_in_sql_is_one_request(browse: Open, world: World) -> None:
    ian = browse("ian")
    first = ian.submit(SEND, **QUESTION, purpose=PURPOSE, once="h" * 32)
    assert first.status_code == 303, text_of(first)
    again = ian.submit(SEND, **QUESTION, purpose=PURPOSE, once="h" * 32)
    in_sql = ian.submit("/ask/sql/request", **SQL, purpose=PURPOSE, once="i" * 32)
    assert first.location == again.location == in_sql.location
    assert first.location.startswith("/requests/")
    assert "Your request is sent" in text_of(ian.get(first.location))
    [sent] = world.answer("GET", "/api/v1/requests", by="root")["items"]
    assert [asker["user"] for asker in sent["askers"]] == ["ian"]
    assert sent["spec"]["levels"] == {"internal": {"epsilon": 0.5}}
    ann = browse("ann")
    fields = {**SQL, "level internal": "", "level public": "0.1", "name": "of ann"}
    other = ann.submit("/ask/sql/request", **fields, purpose="Mine", once="j" * 32)
    assert other.status_code == 303, text_of(other)
    [sent] = world.answer("GET", "/api/v1/requests", by="root")["items"]
    assert [asker["user"] for asker in sent["askers"]] == ["ian", "ann"]
    unlike = {**QUESTION, "level internal": "0.4"}
    assert ian.submit(SEND, **unlike, purpose=PURPOSE, once="k" * 32).status_code == 409


@pytest.mark.usefixtures("unchanged")
def test_a_request_without_a_purpose_comes_back_with_all_that_was_typed(browse: Open) -> None:
    page = browse("ian").submit(SEND, **QUESTION, purpose=" ", once="l" * 32)
    assert page.status_code == 422
    assert 'id="purpose-wrong"' in page.text
    assert 'value="late loans"' in page.text


def test_an_allowance_lets_an_analyst_register_what_the_form_says(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    refused = ian.submit(FORM, **QUESTION, once="m" * 32)
    assert refused.status_code == 403
    assert "Register question" not in refused.text
    world.answer("PUT", ALLOWANCE, {"epsilon": 0.6}, by="root")
    page = ian.get(f"{FORM}?dataset=loans")
    assert "Register question" in page.text
    assert "Your allowance 100% left of epsilon 0.6" in text_of(page)
    assert "Registering this question takes" in text_of(ian.previewed(PREVIEW, **QUESTION))
    greedy = {**QUESTION, "level internal": "0.9"}
    assert "which is too much: request it" in text_of(ian.previewed(PREVIEW, **greedy))
    assert ian.submit(FORM, **greedy, once="n" * 32).status_code == 409
    first = ian.submit(FORM, **QUESTION, once="o" * 32)
    assert first.status_code == 303, text_of(first)
    assert first.location == "/queries/late%20loans?added=1"
    assert ian.submit(FORM, **QUESTION, once="o" * 32).location == first.location
    shown = world.answer("GET", "/api/v1/queries/late%20loans", by="ian")
    assert [tier["tier"] for tier in shown["tiers"]] == ["internal"]
    assert "late loans" not in text_of(browse("ann").get("/catalogue"))


def test_who_tried_many_questions_in_a_minute_keeps_what_was_typed(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(questions_per_minute=2)
    ian, root = (Browser(world, world.client.application.test_client()) for _ in range(2))
    ian.sign_in("ian")
    root.sign_in("root")
    assert [ian.previewed(PREVIEW, **QUESTION).status_code for _ in range(2)] == [200, 200]
    for path in (PREVIEW, FORM, SEND):
        refused = ian.previewed(path, **QUESTION, purpose=PURPOSE, once=f"{path:a<32}")
        assert refused.status_code == 429
        assert 'value="late loans"' in refused.text
    _, part = script(ian, **QUESTION)
    assert "more than 2 questions in a minute" in part
    assert "This preview follows by itself" in part
    assert "Share of its budget" not in part
    for _ in range(3):
        assert root.previewed(PREVIEW, **COUNT).status_code == 200


@pytest.mark.usefixtures("unchanged")
def test_what_was_composed_is_at_an_address_of_its_own(browse: Open) -> None:
    ian = browse("ian")
    sent = ian.submit(PREVIEW, **QUESTION, once="q" * 32)
    assert sent.status_code == 303
    place = sent.location.partition("#")[0]
    assert place.startswith("/new/query?typed=")
    assert "late" not in place
    page = ian.get(place)
    assert page.status_code == 200
    assert "q" * 32 in page.text
    row = ian.previewed(PREVIEW, **QUESTION, more="where")
    assert 'name="where 1"' in row.text
    assert "Share of its budget" not in row.text


def test_a_composed_question_goes_on_in_sql_and_is_the_same_request(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    page = ian.previewed(PREVIEW, **QUESTION, purpose=PURPOSE, once="r" * 32)
    place = GOES_ON.search(html.unescape(page.text))
    assert place is not None
    editor = ian.get(place[1])
    assert editor.status_code == 200, text_of(editor)
    assert "Ask in SQL" in text_of(editor)
    shown = html.unescape(editor.text)
    assert "SELECT COUNT(*)" in shown
    for kept in ('value="late loans"', 'value="0.5"', PURPOSE, "Share of its budget"):
        assert kept in shown
    written = WRITTEN.search(shown)
    assert written is not None
    first = ian.submit(SEND, **QUESTION, purpose=PURPOSE, once="s" * 32)
    fields = {**SQL, "sql": written[1]}
    second = ian.submit("/ask/sql/request", **fields, purpose=PURPOSE, once="t" * 32)
    assert first.location == second.location
    for other in ({"mechanism": "skellam"}, {"wish": "half_width", "level internal": "9"}):
        page = ian.previewed(PREVIEW, **{**QUESTION, **other})
        assert GOES_ON.search(html.unescape(page.text)) is None


def test_both_ways_to_ask_lead_to_each_other(browse: Open) -> None:
    ian = browse("ian")
    assert 'href="/new/query?dataset=loans"' in ian.get("/ask/sql?dataset=loans").text
    assert 'href="/ask/sql?dataset=loans"' in ian.get(f"{FORM}?dataset=loans").text
