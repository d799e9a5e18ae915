"""Test forms that are sent empty, or half filled.

What to enter, in plain words, beside its field.
"""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.api.world import World, parsed
from tests.web.every_page.addresses import addresses, questions
from tests.web.typed import Form, Forms
from tests.web.world import Browser, Open, text_of

from penstock.services.access.principals import acting_as

VALIDATORS = re.compile(
    r"field required|is required|input should|valid (string|number|integer|list|dict)|none_|_type\b"
    r"|must be an? (number|integer|string|list|object)\b|a length of|1 to (64|128) characters\.",
    re.IGNORECASE,
)
"""How pydantic says that nothing was sent, and how its errors are named."""

LEADING_AWAY = re.compile(
    "sign-|disabling|revocation|retir|shred|withdraw|approv|deletion|roles|restore"
)
"""Forms of one button, or that ask for a name to be typed: sent, they end what others need."""


def reasons(page: str) -> list[str]:
    """Return why a form was refused, as the page says on top."""
    found = re.search(r'role="alert" class="notice bad">(.*?)</div>', page, re.DOTALL)
    if found is None:
        return []
    listed = re.findall(r"<li>(.*?)</li>", found.group(1))
    return [html.unescape(one) for one in listed or [found.group(1).partition("done. ")[2]]]


def beside(page: str) -> dict[str, str]:
    """Return texts beside wrong fields by the field's id; without one, of several."""
    found = re.findall(r'<small class="wrong"(?: id="([^"]*)-wrong")?>(.*?)</small>', page)
    return {name: html.unescape(said) for name, said in found}


def shown_to(world: World, browser: Browser, name: str) -> list[Form]:
    """Return the forms on every page that somebody may see."""
    loans = world.answer("GET", "/api/v1/datasets/loans", by="root")["source"]["uri"]
    kinds = ("statistic", "counts", "sparse")
    asked = {
        **questions(world.server, "sites", "visits", ["ann", "ian"], "internal"),
        "new_query": (
            *(f"?dataset=loans&kind={kind}" for kind in kinds),
            "?dataset=sites&kind=vector",
        ),
        "new_stream": ("?dataset=sites", "?dataset=loans"),
        "new_schedule": ("?dataset=loans",),
        "new_dataset": ("?source=vector", f"?uri={loans}"),
    }
    found: dict[object, Form] = {}
    for _, path in addresses(world.server, acting_as(world.server, name), asked, 1):
        page = browser.get(path)
        if page.status_code != 200 or page.mimetype != "text/html":
            continue
        for form in Forms(page.text).found:
            address = form.actions[0]
            if not LEADING_AWAY.search(address):
                found.setdefault((address, form.fields.get("kind"), *sorted(form.fields)), form)
    return list(found.values())


@pytest.mark.only("sqlite")
@pytest.mark.parametrize(("name", "forms"), [("root", 20), ("ian", 6), ("olga", 7)])
def test_no_form_that_is_sent_empty_answers_with_the_validators_words(
    browse: Open, world: World, name: str, forms: int
) -> None:
    browser = browse(name)
    found, refused = shown_to(world, browser, name), 0
    assert len(found) >= forms
    for form in found:
        for action in dict.fromkeys(one.partition("#")[0] for one in form.actions):
            if form.method == "post":
                answer = browser.send(action, **form.fields)
            else:
                answer = browser.get(f"{action.partition('?')[0]}?{urlencode(form.fields)}")
            said = text_of(answer) if "<main" in answer.text else ""
            assert answer.status_code in {200, 303, 409, 422}, (action, said)
            assert not VALIDATORS.search(said), (action, said)
            if action.startswith("/new/") and answer.status_code == 422:
                refused += 1
                told = reasons(answer.text)
                assert told
                assert set(told) == set(beside(answer.text).values()), action
                assert all("for example" in one or "such as" in one for one in told), told
    assert refused >= (10 if name == "root" else 0)


BASE = {"name": "lent", "dataset": "loans", "mechanism": "gaussian", "wish": "epsilon"}
ASKED = {**BASE, "kind": "statistic", "aggregate": "count", "max_groups": "1", "max_rows": "3"}
LEVEL = {"level public": "0.1"}
SPARSE = {**ASKED, **LEVEL, "kind": "sparse", "keys of": "page", "false_keys": "0.1"}
TEXTS = {"domain": "string", "alphabet": "ab", "length": "2"}
STREAM = {**BASE, **LEVEL, "dataset": "sites", "max_steps_per_unit": "1"}
VECTOR = {**BASE, **LEVEL, "kind": "vector", "dataset": "sites", "keys": "a\nb"}
PUSHED = {"source": "vector", "neighboring": "add_remove", "delta": "1e-6", "epsilon public": "1"}
TIMED = {"name": "a", "dataset": "loans", "cron": "0 3 * * *", "uri": "a-{date}.csv"}
QUERY, OPENED, DATASET = "/new/query/preview", "/new/stream/preview", "/new/dataset"
SCHEDULED = "/new/schedule/preview"
BUDGET = {"epsilon public": "1", "total public": "5"}

# What is filled in, and beside which field it says what to enter, and how that begins.
HALF_FILLED: list[tuple[str, dict[str, str], str, str]] = [
    (QUERY, {**ASKED, **LEVEL, "name": ""}, "name", "Enter a name: 1 to 64 characters, a letter"),
    (QUERY, ASKED, "", "Enter a level for at least one tier"),
    (QUERY, {**ASKED, "wish": "share"}, "share", "Enter either the noise level of at least one"),
    (QUERY, {**ASKED, **LEVEL, "mechanism": "generalized_gaussian"}, "p", "The field p, the power"),
    (QUERY, {**ASKED, **LEVEL, "aggregate": "sum"}, "column", "Choose the column that it is about"),
    (
        QUERY,
        {**ASKED, **LEVEL, "aggregate": "sum", "column": "book", "upper": "9"},
        "lower",
        "Bounds are needed for sum",
    ),
    (
        QUERY,
        {**ASKED, **LEVEL, "aggregate": "histogram", "column": "book"},
        "bins",
        "Enter the edges of the bins",
    ),
    (QUERY, {**ASKED, **LEVEL, "group 0": "book"}, "group-0", "Keys are declared, never discove"),
    (QUERY, {**ASKED, **LEVEL, "max_rows": ""}, "max_rows", "Say how many rows of one privacy"),
    *(
        (
            QUERY,
            {**ASKED, **LEVEL, "where 0": column, "op 0": op, "value 0": " "},
            "value-0",
            "Enter what it is compared with",
        )
        for column, op in (("book", "="), ("book", "in"), ("person", "="), ("person", "in"))
    ),
    (QUERY, {**SPARSE, **TEXTS, "alphabet": ""}, "alphabet", "An alphabet has at least one"),
    (QUERY, {**SPARSE, **TEXTS, "length": ""}, "length", "Enter how many characters each text"),
    (QUERY, {**SPARSE, **TEXTS, "keys of": ""}, "", "A sparse histogram is grouped by one column"),
    (QUERY, VECTOR, "l1", "Enter by how much one person changes all numbers together"),
    (OPENED, {**STREAM, "structure": "smooth_binary"}, "length", "A smooth_binary tree needs"),
    (OPENED, {**STREAM, "structure": "kary"}, "k", "Without a length the best k is unknown"),
    (OPENED, {**STREAM, "l2": "1"}, "l1", "Enter by how much one person changes all numbers"),
    (OPENED, {**STREAM, "max_steps_per_unit": ""}, "max_steps_per_unit", "The privacy unit of"),
    (SCHEDULED, {**TIMED, **BUDGET, "name": ""}, "name", "Enter a name: 1 to 64 characters"),
    (SCHEDULED, TIMED, "", "Enter a total for each tier"),
    (SCHEDULED, {**TIMED, **BUDGET, "uri": ""}, "file", "Enter the path of a CSV or Parquet"),
    (SCHEDULED, {**TIMED, **BUDGET, "days": "0"}, "days", "Enter a whole number of days"),
    (DATASET, {**PUSHED, "name": " "}, "name", "Enter a name: 1 to 64 characters, a letter"),
    (DATASET, {**PUSHED, "name": "a", "delta": ""}, "delta", "Enter the chance that the guarantee"),
    (DATASET, {**PUSHED, "name": "a", "epsilon public": ""}, "", "Enter an epsilon for at least"),
]


@pytest.mark.only("sqlite")
def test_a_form_that_is_half_filled_says_beside_its_field_what_to_enter(root: Browser) -> None:
    for path, fields, place, words in HALF_FILLED:
        answer = root.submit(path, **fields)
        told = beside(answer.text)
        assert answer.status_code == 422, fields
        assert list(told) == [place], (told, fields)
        assert told[place].startswith(words), (told, fields)
        assert "for example" in told[place]
        assert reasons(answer.text) == [told[place]]
        assert not VALIDATORS.search(told[place])


@pytest.mark.only("sqlite")
def test_a_privacy_unit_without_a_column_is_said_beside_the_column_alone(
    root: Browser, world: World
) -> None:
    loans = world.answer("GET", "/api/v1/datasets/loans", by="root")["source"]["uri"]
    unit = {"unit": "column", "column 0": "person", "type 0": "string"}
    answer = root.submit(DATASET, **{**PUSHED, **unit, "name": "again", "source": "", "uri": loans})
    told = beside(answer.text)
    assert list(told) == ["unit-column"]
    assert told["unit-column"].startswith("Choose the column that names whose record a row is")


@pytest.mark.only("sqlite")
def test_the_api_says_the_same_of_what_is_empty(world: World) -> None:
    sent: dict[str, Any] = {"name": "", "dataset": "loans", "mechanism": "gaussian", "levels": {}}
    answer = world.call(
        "POST", "/api/v1/queries", {**sent, "aggregate": {"type": "count"}}, by="root"
    )
    told = {one["pointer"]: one["detail"] for one in parsed(answer)["errors"]}
    assert sorted(told) == ["/levels", "/name"]
    assert told["/levels"].startswith("Enter a level for at least one tier")
    assert told["/name"].startswith("Enter a name: 1 to 64 characters")
