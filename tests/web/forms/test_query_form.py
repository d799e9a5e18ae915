"""Test forms that build queries and streams: added rows, choices taken, hostile input."""

import re
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World
from tests.web.towns import settle
from tests.web.world import HOST, HOSTILE, ORIGIN, Browser, text_of
from werkzeug.test import TestResponse

from penstock.privacy import Sensitivity
from penstock.services.computations import computations, power_advice
from penstock.services.computations.results import DescribedQuote
from penstock.services.schemas.previews import PowerView

COUNT: dict[str, Any] = {
    "name": "lent",
    "dataset": "town",
    "aggregate": "count_units",
    "mechanism": "gaussian",
    "level public": "0.1",
}
GROUPED = {**COUNT, "group 0": "age", "edges 0": "0, 5, 10", "max_groups": "2"}
WIDE: dict[str, Any] = {
    "kind": "vector",
    "name": "wide",
    "dataset": "sites",
    "keys": "a\nb\nc",
    "l1": "3",
    "linf": "1",
    "mechanism": "generalized_gaussian",
    "p": "3",
    "level public": "0.05",
}
RUNNING: dict[str, Any] = {
    "name": "running",
    "dataset": "sites",
    "length": "100",
    "max_steps_per_unit": "1",
    "mechanism": "gaussian",
    "level public": "0.05",
}
FORMS = {
    "statistic": ("/new/query", GROUPED),
    "counts": ("/new/query", {**GROUPED, "kind": "counts"}),
    "sparse": (
        "/new/query",
        {**COUNT, "kind": "sparse", "keys of": "age", "max_groups": "1", "false_keys": "0.1"},
    ),
    "vector": ("/new/query", WIDE),
    "stream": ("/new/stream", RUNNING),
}
MARKUP = f"{HOSTILE}!"
NONSENSE = ("", " ", "9" * 400, "1e400", "nan", "-1", "0.1,x", MARKUP, "\x00\u202e", "१२")
FIELD = re.compile(r'<(?:input|select|textarea)\b[^>]*?\bname="([^"]+)"')
BUTTON = re.compile(r'<button[^>]*name="take" value="([^"]*)"')


@pytest.fixture(autouse=True)
def town(world: World, tmp_path: Path) -> None:
    settle(world, tmp_path)


def previewed(browser: Browser, kind: str, **fields: Any) -> TestResponse:
    path, own = FORMS[kind]
    return browser.submit(f"{path}/preview", **{**own, **fields})


def fields_of(page: TestResponse) -> set[str]:
    """Return the names of all fields of the page's form."""
    return {unescape(name) for name in FIELD.findall(page.text)} - {"form_key", "once"}


def takes(page: TestResponse) -> list[str]:
    """Return what each button that takes a choice sends."""
    return [unescape(value) for value in BUTTON.findall(page.text)]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(("part", "most"), [("group", 16), ("where", 64)])
def test_a_row_is_added_and_nothing_else_is_changed(root: Browser, part: str, most: int) -> None:
    typed = {**COUNT, "value 0": "kept", "where 0": "age", "level internal": "much"}
    page = root.submit("/new/query/preview", **typed, more=part)
    assert page.status_code == 200
    assert f"{part} 1" in fields_of(page)
    assert f"{part} 2" not in fields_of(page)
    assert 'value="kept"' in page.text
    assert 'value="much"' in page.text
    assert "Nothing was done" not in page.text
    full = {**typed, f"{part} {most - 1}": "age"}
    page = root.submit("/new/query/preview", **full, more=part)
    assert f"{part} {most - 1}" in fields_of(page)
    assert f"{part} {most}" not in fields_of(page)


@pytest.mark.usefixtures("unchanged")
def test_what_is_wrong_stands_beside_its_own_row(root: Browser) -> None:
    rows = {"where 0": "", "where 1": "age", "value 1": "1", "where 2": "absent", "value 2": "1"}
    page = previewed(root, "statistic", **rows)
    assert page.status_code == 422
    assert 'id="where-2-wrong"' in page.text
    assert 'id="where-1-wrong"' not in page.text


@pytest.mark.usefixtures("unchanged")
def test_ways_to_protect_counts_are_compared_and_taken(root: Browser) -> None:
    page = previewed(root, "statistic")
    assert "Ways to protect these counts" in page.text
    offered = takes(page)
    assert "kind=statistic" not in offered
    together = next(choice for choice in offered if re.search(r"trade_off=\d", choice))
    path, own = FORMS["statistic"]
    taken = root.submit(f"{path}/preview", **own, take=together)
    assert taken.status_code == 200, text_of(taken)
    assert '<input type="hidden" name="kind" value="counts">' in taken.text
    assert 'value="0, 5, 10"' in taken.text
    assert "kind=statistic" in takes(taken)
    assert together not in takes(taken)


@pytest.mark.usefixtures("unchanged")
def test_an_advised_power_is_taken(root: Browser) -> None:
    page = previewed(root, "vector")
    assert "noise of each level is drawn independently" in text_of(page)
    advised = re.search(r'value="([^"]*)"[^>]*aria-label="Use this: [^"]*recommended', page.text)
    assert advised is not None
    path, own = FORMS["vector"]
    taken = root.submit(f"{path}/preview", **own, take=advised.group(1))
    assert taken.status_code == 200
    assert advised.group(1) not in takes(taken)


@pytest.mark.usefixtures("unchanged")
def test_noises_are_compared_where_that_is_asked_for(root: Browser) -> None:
    assert "Other noise mechanisms" not in previewed(root, "statistic").text
    begun = previewed(root, "statistic", compare="1")
    assert begun.status_code == 303
    page = root.get(begun.location)
    assert "Other noise mechanisms" in page.text
    assert {"mechanism=laplace", "mechanism=poisson", "mechanism=skellam"} <= set(takes(page))
    assert "generalized Gaussian The field p, the power" in text_of(page)


@pytest.mark.usefixtures("unchanged")
def test_every_structure_of_a_stream_that_is_offered_can_be_taken(root: Browser) -> None:
    page = previewed(root, "stream")
    offered = takes(page)
    assert len(offered) >= 4
    for choice in offered:
        path, own = FORMS["stream"]
        taken = root.submit(f"{path}/preview", **own, take=choice)
        assert taken.status_code == 200, (choice, text_of(taken))
        assert choice not in takes(taken)


@pytest.mark.usefixtures("unchanged")
def test_a_vector_is_previewed_by_its_keys_alone_and_not_registered_so(root: Browser) -> None:
    assert previewed(root, "vector").status_code == 200
    page = root.submit("/new/query", **WIDE, once="v" * 32)
    assert page.status_code == 422
    assert 'id="values-wrong"' in page.text


@pytest.mark.usefixtures("unchanged")
def test_the_preview_of_a_long_laplace_vector_reads_its_loss_at_delta(root: Browser) -> None:
    keys = "\n".join(map(str, range(64)))
    page = previewed(root, "vector", keys=keys, l1="64", mechanism="laplace", p="")
    shown = text_of(page)
    assert "One release to internal : at most epsilon 0.05 at delta 1e-6, the dataset's" in shown
    assert "at every delta at most 0.108." in shown


@pytest.mark.usefixtures("unchanged")
def test_one_preview_of_a_person_is_worked_out_at_a_time(
    root: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner: list[TestResponse] = []
    worked_out = computations.quote
    fields = {**COUNT, "form_key": root.form_key()}
    headers = {"Origin": ORIGIN, "HX-Request": "true"}

    def slowly(*args: Any, **named: Any) -> DescribedQuote:
        if not inner:
            inner.append(
                root.client.post("/new/query/preview", base_url=HOST, headers=headers, data=fields)
            )
        return worked_out(*args, **named)

    monkeypatch.setattr(computations, "quote", slowly)
    outer = root.client.post("/new/query/preview", base_url=HOST, headers=headers, data=fields)
    assert (outer.status_code, inner[0].status_code) == (200, 200)
    assert "still being computed" in inner[0].text
    # The script repeats it by itself, so that nobody is told of an error.
    assert 'hx-post="/new/query/preview"' in inner[0].text
    assert 'hx-trigger="load delay:2s"' in inner[0].text
    assert "hx-trigger" not in outer.text
    again = root.client.post("/new/query/preview", base_url=HOST, headers=headers, data=fields)
    assert again.status_code == 200


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("each", [2, pytest.param(len(NONSENSE), marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("statistic", "stream") else [pytest.mark.nightly])
        for kind in FORMS
    ],
)
def test_whatever_is_typed_is_answered_and_kept(root: Browser, kind: str, each: int) -> None:
    """Each field gets ``each`` of the values; over all kinds of form, every value is used."""
    path, own = FORMS[kind]
    address = f"{path}?kind={kind}&dataset={own['dataset']}"
    fields = sorted(fields_of(root.get(address)) - {"dataset", "kind"})
    assert len(fields) > 10
    for field in fields:
        # What fields are called, unlike where they stand, is the same in all forms.
        begin = sum(map(ord, field)) + each * [*FORMS].index(kind)
        for typed in (NONSENSE[(begin + more) % len(NONSENSE)] for more in range(each)):
            page = previewed(root, kind, **{field: typed})
            assert page.status_code in (200, 422), (field, typed[:20], page.status_code)
            assert HOSTILE not in page.text
            if typed == MARKUP and f'<input id="{field}"' in page.text:
                assert MARKUP in unescape(page.text), field


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("kind", FORMS)
def test_fields_that_are_sent_twice_or_not_at_all_are_answered(root: Browser, kind: str) -> None:
    path, own = FORMS[kind]
    plain = previewed(root, kind)
    assert plain.status_code == 200, text_of(plain)
    twice = {name: [value, "9"] for name, value in own.items()}
    again = root.submit(f"{path}/preview", **twice)
    assert text_of(again) == text_of(plain)
    for field in own:
        less = {name: value for name, value in own.items() if name != field}
        assert root.submit(f"{path}/preview", **less).status_code in (200, 422), field
    for garbage in ("%", "kind=absent&mechanism=x", "=&&=", "level public", "a" * 5000):
        assert previewed(root, kind, take=garbage).status_code in (200, 422), garbage


@pytest.mark.usefixtures("unchanged")
def test_the_smallest_epsilon_of_all_is_advised_on(
    root: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    epsilons: list[float] = []

    def at(power: Fraction, _: Sensitivity, __: int, epsilon: float, ___: float) -> PowerView:
        epsilons.append(epsilon)
        return PowerView(float(power), 1.0)

    monkeypatch.setattr(power_advice, "_at", at)
    monkeypatch.setattr(power_advice, "_best", lambda *args: at(Fraction(3), *args))
    page = previewed(root, "vector", **{"keys": "a", "l1": "1", "level public": "1e-9"})
    assert page.status_code == 200, text_of(page)
    assert "Powers at epsilon 1e-9" in page.text
    assert set(epsilons) == {1e-9}


def test_numbers_that_are_typed_are_kept_nowhere(root: Browser, world: World) -> None:
    canary = "918273645"
    spec = {**WIDE, "mechanism": "gaussian", "values": f"{canary}\n2\n3"}
    sent = root.submit("/new/query", **spec, once="w" * 32)
    assert sent.status_code == 303, text_of(sent)
    assert canary not in root.get(sent.location).text
    assert canary not in str(world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga"))
    files = [file for file in world.server.settings.home.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if canary.encode() in file.read_bytes()]


STATEMENT: dict[str, Any] = {
    "kind": "sql",
    "name": "smokers",
    "dataset": "town",
    "sql": "SELECT COUNT(*), VAR_POP(age)\nFROM town",
    "max_rows": "1",
    "mechanism": "gaussian",
    "level public": "0.1",
}


def test_a_statement_is_previewed_with_what_it_leaves_out(root: Browser) -> None:
    page = root.submit("/new/query/preview", **STATEMENT)
    assert page.status_code == 200
    assert "A row counts here only where age IS NOT NULL" in text_of(page)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("", "There is no statement"),
        ("SELECT COUNT(*)\nFROM town LIMIT 3", "Line 2, column 11: Every group is answered"),
        ("SELECT AVG(shoe) FROM town", "Line 1, column 12: The dataset town declares no column"),
        ("SELECT COUNT(*) FROM sites", "Choose the dataset that is read, or write town."),
    ],
)
def test_a_statement_is_refused_beside_its_field(root: Browser, statement: str, words: str) -> None:
    page = root.submit("/new/query/preview", **{**STATEMENT, "sql": statement})
    assert page.status_code == 422
    assert words in text_of(page)
    assert '<textarea id="sql"' in page.text
