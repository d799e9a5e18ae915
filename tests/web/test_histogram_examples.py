"""Test that the examples in the form of a sparse histogram can be registered unchanged."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World
from tests.web.towns import town_in
from tests.web.world import Browser

BUDGETS: dict[str, dict[str, Any]] = {
    "small": {"public": {"epsilon": 1}, "internal": {"epsilon": 2}},
    "of the demonstration": {
        "public": {"epsilon": 1},
        "internal": {"epsilon": 8},
    },
    "larger": {"public": {"epsilon": 6}, "internal": {"epsilon": 9}},
}


@pytest.mark.parametrize("budgets", BUDGETS)
def test_what_the_form_shows_as_examples_is_registered(
    world: World, root: Browser, tmp_path: Path, budgets: str
) -> None:
    spec = {**town_in(tmp_path), "budgets": BUDGETS[budgets]}
    del spec["max_units"]
    world.answer("POST", "/api/v1/datasets", spec, by="root")
    page = unescape(root.get("/new/query?kind=sparse&dataset=town").text)
    keys = re.search(r"above the threshold, such as ([\d.e-]+)\. A smaller", page)
    share = re.search(r"Such as ([\d.]+)\. Only if levels are given as one share", page)
    assert keys
    assert share
    levels = re.search(r'<input[^>]*name="max_levels"[^>]*value="(\d*)"', page)
    typed = {
        "kind": "sparse",
        "name": "ages",
        "dataset": "town",
        "aggregate": "count_units",
        "keys of": "age",
        "max_groups": "1",
        "mechanism": "gaussian",
        "wish": "share",
        "share": share[1],
        "false_keys": keys[1],
        "max_levels": levels[1] if levels else "",
    }
    root.submit("/new/query", **typed)
    assert world.answer("GET", "/api/v1/queries/ages", by="root")["name"] == "ages"
    assert float(keys[1]) <= 0.1


def test_a_form_says_where_no_example_would_fit(
    world: World, root: Browser, tmp_path: Path
) -> None:
    spec = {**town_in(tmp_path), "budgets": {"public": {"epsilon": 30}}}
    world.answer("POST", "/api/v1/datasets", spec, by="root")
    page = root.get("/new/query?kind=sparse&dataset=town").text
    assert "The budgets of this dataset hardly allow a sparse histogram" in page


def test_a_refused_form_and_the_api_tell_the_same_remedies(
    world: World, root: Browser, tmp_path: Path
) -> None:
    spec = {**town_in(tmp_path), "budgets": BUDGETS["of the demonstration"]}
    world.answer("POST", "/api/v1/datasets", spec, by="root")
    query = {
        "name": "ages",
        "dataset": "town",
        "structure": "sparse_histogram",
        "domain": {"type": "uint64"},
        "false_keys": 0.1,
        "group_by": [{"column": "age"}],
        "aggregate": {"type": "count_units"},
        "contribution": {"max_groups": 1},
        "mechanism": "gaussian",
        "share": 0.1,
    }
    detail = world.call("POST", "/api/v1/queries", query, by="root").get_json()["detail"]
    assert "What would fit: " in detail
    typed = {
        "kind": "sparse",
        "name": "ages",
        "dataset": "town",
        "aggregate": "count_units",
        "keys of": "age",
        "max_groups": "1",
        "mechanism": "gaussian",
        "wish": "share",
        "share": "0.1",
        "false_keys": "0.1",
    }
    assert detail in unescape(root.submit("/new/query/preview", **typed).text)
