"""Test queries built by form: previewed and registered as the API does."""

import re

import pytest
from tests.api.world import World
from tests.web.staff import COUNT
from tests.web.world import Browser, text_of

SPEC = {
    "name": "loans by shelf",
    "dataset": "loans",
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
}


@pytest.mark.usefixtures("unchanged")
def test_a_preview_on_the_page_is_that_of_the_api(root: Browser, world: World) -> None:
    page = root.submit("/new/query/preview", **COUNT)
    assert page.status_code == 200
    words = text_of(page)
    preview = world.answer("POST", "/api/v1/queries/preview", SPEC, by="root")
    assert preview["sensitivity"]["l1"] == 3
    assert "L1 3 (all numbers)" in words
    for tier in preview["tiers"]:
        row = (
            f"{tier['tier']} {tier['guarantee']['epsilon']:.3g} ±{tier['error']['half_width']:.3g}"
        )
        assert row in words
    assert 'value="loans by shelf"' in page.text
    assert page.text.partition("<main")[2].count("<svg") == 4


@pytest.mark.usefixtures("unchanged")
def test_a_preview_comes_alone_where_a_script_asks(root: Browser) -> None:
    fields = {**COUNT, "form_key": root.form_key()}
    headers = {"Origin": "http://127.0.0.1:8080", "HX-Request": "true"}
    page = root.client.post(
        "/new/query/preview", base_url="https://127.0.0.1:8080", headers=headers, data=fields
    )
    assert page.status_code == 200
    assert "<html" not in page.text
    assert "Share of its budget" in page.text


@pytest.mark.usefixtures("unchanged")
def test_a_preview_says_that_the_budget_is_too_small(root: Browser) -> None:
    page = root.submit("/new/query/preview", **{**COUNT, "level internal": "50"})
    assert page.status_code == 200
    assert "It would be refused." in text_of(page)
    assert "too little" in text_of(page)
    assert (
        root.submit("/new/query", **{**COUNT, "level internal": "50"}, once="1").status_code == 409
    )


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"level public": "x"}, "level-2"),
        ({"level public": "-1"}, "level-2"),
        ({"max_rows": "1.5"}, "max_rows"),
        ({"mechanism": "none"}, "mechanism"),
        ({"wish": "share", "share": "2"}, "share"),
        ({"aggregate": "sum", "column": ""}, "column"),
        ({"aggregate": "histogram", "column": "book", "bins": "1, x"}, "bins"),
        ({"group 0": "absent"}, "group-0"),
        ({"where 0": "book", "value 0": "x"}, "value-0"),
        ({"where 0": "absent", "value 0": "x"}, "where-0"),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_nonsense_comes_back_with_its_reason_beside_it(
    root: Browser, fields: dict[str, str], place: str
) -> None:
    for path in ("/new/query/preview", "/new/query"):
        page = root.submit(path, **{**COUNT, **fields}, once="2")
        assert page.status_code == 422, text_of(page)
        assert f'id="{place}-wrong"' in page.text, text_of(page)
        assert 'value="0.5"' in page.text


def test_a_query_is_registered_once_however_often_its_form_is_sent(
    root: Browser, world: World
) -> None:
    first = root.submit("/new/query", **COUNT, once="k" * 32)
    assert first.status_code == 303
    assert root.submit("/new/query", **COUNT, once="k" * 32).location == first.location
    made = world.answer("GET", "/api/v1/queries/loans%20by%20shelf", by="root")
    assert made["spec"]["aggregate"]["type"] == "count"
    assert len(world.answer("GET", "/api/v1/queries?dataset=loans", by="root")["items"]) == 2


def test_a_form_begins_with_a_tenth_of_every_budget(root: Browser, world: World) -> None:
    budgets = world.answer("GET", "/api/v1/datasets/loans", by="root")["budgets"]
    page = root.get("/new/query?dataset=loans").text
    for tier, budget in budgets.items():
        assert re.search(rf'name="level {tier}" value="{budget["epsilon"] / 10:.3g}"', page), tier
    emptied = root.submit("/new/query/preview", **{**COUNT, "level internal": ""})
    assert 'name="level internal" value=""' in emptied.text
