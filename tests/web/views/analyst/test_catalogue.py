"""Test the way from a dataset's page to a check of its categories, and the check's price."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.api.world import World
from tests.web.staff import DATASET
from tests.web.views.people.acting import follow
from tests.web.world import Browser, Open, text_of

from penstock.services.datasets import datasets
from penstock.services.schemas.views import DatasetView
from penstock.web.http.request_context import Visit

ROWS = "person,team,hours\n" + "".join(
    f"p{n},{'red' if n % 4 else 'rouge'},1\n" for n in range(400)
)


@pytest.fixture
def staff(root: Browser, tmp_path: Path) -> str:
    file = tmp_path / "staff.csv"
    file.write_text(ROWS, encoding="utf-8")
    follow(root, root.submit("/new/dataset", **DATASET, uri=str(file), once="c" * 32))
    return "staff"


def test_a_column_is_checked_from_its_datasets_page(
    root: Browser, browse: Open, world: World, staff: str
) -> None:
    shown = root.get(f"/datasets/{staff}")
    (link,) = re.findall(r'href="([^"]*)">Check these against the data', shown.text)
    filled = urlsplit(html.unescape(link))
    form = root.get(f"{filled.path}?{filled.query}")
    assert 'value="staff team uncategorized"' in form.text
    given = dict(parse_qsl(filled.query))
    before = world.answer("GET", f"/api/v1/datasets/{staff}/budget", by="root")
    planned = root.submit("/new/query/preview", **given, once="d" * 32)
    assert planned.status_code == 200
    assert world.answer("GET", f"/api/v1/datasets/{staff}/budget", by="root") == before
    done = follow(root, root.submit("/new/query", **given, once="e" * 32))
    words = text_of(done)
    assert "share of rows in no declared category of team" in words
    assert "A share is a noisy sum divided by a noisy count" in words
    released = world.answer(
        "POST", "/api/v1/queries/staff team uncategorized/releases", {}, by="ian"
    )
    assert 0 <= released["values"][0] <= 1
    assert "Check these against the data" not in browse("ian").get(f"/datasets/{staff}").text


def test_each_reader_finds_what_they_may_see(browse: Open) -> None:
    ann, ian, root = (browse(name) for name in ("ann", "ian", "root"))
    assert 'href="/queries/secret"' in ian.get("/catalogue").text
    assert 'href="/queries/secret"' not in ann.get("/catalogue").text
    assert ann.get("/datasets/closed").status_code == 404
    assert "Best tier you can request" in text_of(ann.get("/catalogue"))
    assert "you can request" not in text_of(root.get("/catalogue"))


def test_only_admins_are_led_to_what_changes_a_dataset(browse: Open) -> None:
    page = browse("ian").get("/datasets/sites").text
    admins = browse("root").get("/datasets/sites").text
    for path in ("budgets", "declaration", "shredding", "same-people"):
        assert f'href="/datasets/sites/{path}"' in admins
        assert f'href="/datasets/sites/{path}"' not in page


@pytest.mark.parametrize(("snapshot", "is_warned"), [("none", True), ("version", False)])
def test_readers_are_told_where_rows_may_change_unseen(
    browse: Open, monkeypatch: pytest.MonkeyPatch, snapshot: str, is_warned: bool
) -> None:
    found = datasets.show

    def in_a_warehouse(*arguments: Any) -> DatasetView:
        source = {"engine": "postgresql", "snapshot": snapshot}
        return replace(found(*arguments), source=source)

    assert "read by" not in text_of(browse("ian").get("/datasets/sites"))
    monkeypatch.setattr(datasets, "show", in_a_warehouse)
    words = text_of(browse("ian").get("/datasets/sites"))
    assert "read by postgresql" in words
    assert ("its rows may change unseen between queries" in words) == is_warned


def test_notices_of_a_new_dataset_are_for_admins(browse: Open) -> None:
    assert browse("ian").get("/datasets/sites?added=1").status_code == 200
    assert 'role="alert"' not in browse("ian").get("/datasets/sites?added=1").text


def test_a_search_and_a_filter_live_in_the_address(browse: Open) -> None:
    ian = browse("ian")
    page = ian.get("/catalogue?search=SECRET&sort=name")
    assert 'href="/queries/secret"' in page.text
    assert 'href="/queries/visits"' not in page.text
    assert 'value="SECRET"' in page.text
    assert 'href="/catalogue?search=SECRET&amp;sort=name&amp;only=retired"' in page.text
    kept = ian.get("/catalogue?dataset=sites&only=new")
    assert '<input type="hidden" name="dataset" value="sites">' in kept.text
    assert "Dataset sites ×" in text_of(kept)


def test_a_title_stands_before_the_name_and_tags_lead_to_their_queries(
    browse: Open, world: World
) -> None:
    texts = {"title": "Visits <of> all", "tags": ["care"]}
    world.answer("PATCH", "/api/v1/queries/visits", texts, by="root")
    world.answer("PATCH", "/api/v1/datasets/sites", {"title": "All sites"}, by="root")
    ian = browse("ian")
    page = ian.get("/catalogue").text
    assert '<a href="/queries/visits"><bdi>Visits &lt;of&gt; all</bdi></a> <code' in page
    assert "All sites" in page
    assert 'href="/catalogue?tag=care"' in page
    tagged = ian.get("/catalogue?tag=care").text
    assert 'href="/queries/visits"' in tagged
    assert 'href="/queries/secret"' not in tagged
    assert 'aria-label="Remove the filter: Tag care"' in tagged


def test_nothing_found_reads_the_same_for_hidden_and_for_missing(browse: Open) -> None:
    ann = browse("ann")
    hidden, missing = (ann.get(f"/catalogue?search={word}") for word in ("secret", "absent"))
    assert "No query that you may see matches" in text_of(hidden)
    assert hidden.text.replace("secret", "absent") == missing.text


@pytest.mark.parametrize("address", ["sort=best", "only=yours", f"search={'a' * 201}"])
def test_a_choice_that_there_is_not_is_refused_in_place(browse: Open, address: str) -> None:
    page = browse("ian").get(f"/catalogue?{address}")
    assert page.status_code == 422
    assert 'role="alert"' in page.text
    assert 'name="search"' in page.text


def test_pages_of_a_choice_have_its_address(browse: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Visit.window
    monkeypatch.setattr(Visit, "window", lambda visit, *_: whole(visit, 1))
    ian = browse("ian")
    first = ian.get("/catalogue?sort=name")
    (onward,) = re.findall(r'href="([^"]*cursor[^"]*)"[^>]*>Next page<', first.text)
    second = ian.get(html.unescape(onward))
    shown = [set(re.findall(r'href="(/queries/[^"/]*)"', page.text)) for page in (first, second)]
    assert [len(names) for names in shown] == [1, 1]
    assert not shown[0] & shown[1]


def test_datasets_and_streams_have_pages_of_their_own(
    browse: Open, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Visit.window
    monkeypatch.setattr(Visit, "window", lambda visit, *_: whole(visit, 1))
    browser = browse("ian")
    first = browser.get("/catalogue").text
    (more,) = re.findall(r'href="([^"]*)"[^>]*>More datasets<', first)
    second = browser.get(html.unescape(more)).text
    names = [re.findall(r'href="/datasets/(\w+)">', page) for page in (first, second)]
    assert [len(shown) for shown in names] == [1, 1]
    assert names[0] != names[1]
    assert 'id="queries"' not in second
    assert 'id="streams"' not in second
    assert 'id="datasets"' not in browser.get("/catalogue?part=streams").text
