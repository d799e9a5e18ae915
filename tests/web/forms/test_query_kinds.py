"""Test that queries and streams registered by form equal those registered by the API."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World
from tests.web.towns import settle
from tests.web.world import Browser, text_of

LEVELS = {"level public": "0.1", "level internal": "0.5"}
EPSILONS = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}
ONE = {"max_groups": "1", "max_rows": "1"}
ROW = {"max_groups": 1, "max_rows_per_group": 1}

# Fields of the form, and the spec that an API's client would send.
QUERIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a sum twice grouped and thrice narrowed": (
        {
            "dataset": "town",
            "aggregate": "sum",
            "column": "age",
            "upper": "80",
            "group 0": "town",
            "group 1": "smokes",
            "where 0": "age",
            "op 0": ">=",
            "value 0": "18",
            "where 1": "",
            "op 1": "=",
            "where 2": "town",
            "op 2": "in",
            "value 2": "north, south",
            "where 3": "runs",
            "op 3": "=",
            "value 3": "true",
            **LEVELS,
            **ONE,
            "mechanism": "laplace",
            "granularity": "1",
            "max_levels": "64",
        },
        {
            "dataset": "town",
            "aggregate": {"type": "sum", "column": "age", "upper": 80},
            "group_by": [{"column": "town"}, {"column": "smokes"}],
            "where": [
                {"column": "age", "op": ">=", "value": 18},
                {"column": "town", "op": "in", "value": ["north", "south"]},
                {"column": "runs", "op": "=", "value": True},
            ],
            "contribution": ROW,
            "mechanism": "laplace",
            "granularity": 1,
            "max_levels": 64,
            "levels": EPSILONS,
        },
    ),
    "a statement": (
        {
            "kind": "sql",
            "dataset": "town",
            "sql": "SELECT town, SUM(age)\r\nFROM town -- all\r\n"
            "WHERE smokes OR age < 18 GROUP BY 1",
            **LEVELS,
            **ONE,
            "mechanism": "gaussian",
        },
        {
            "dataset": "town",
            "aggregate": {"type": "sum", "column": "age"},
            "group_by": [{"column": "town"}],
            "where": {
                "any": [
                    {"column": "smokes", "op": "=", "value": True},
                    {"column": "age", "op": "<", "value": 18},
                ]
            },
            "contribution": ROW,
            "mechanism": "gaussian",
            "levels": EPSILONS,
        },
    ),
    "a mean by its interval": (
        {
            "dataset": "town",
            "aggregate": "mean",
            "column": "age",
            **ONE,
            "mechanism": "gaussian",
            "wish": "half_width",
            "confidence": "0.9",
            "level public": "4000",
            "level internal": "2000",
        },
        {
            "dataset": "town",
            "aggregate": {"type": "mean", "column": "age"},
            "contribution": ROW,
            "mechanism": "gaussian",
            "levels": {
                "public": {"half_width": 4000, "confidence": 0.9},
                "internal": {"half_width": 2000, "confidence": 0.9},
            },
        },
    ),
    "columns counted with generalized noise": (
        {
            "dataset": "town",
            "aggregate": "count_units",
            "columns": ["smokes", "runs"],
            "mechanism": "generalized_gaussian",
            "p": "3",
            **LEVELS,
        },
        {
            "dataset": "town",
            "aggregate": {"type": "count_units", "columns": ["smokes", "runs"]},
            "mechanism": "generalized_gaussian",
            "p": 3,
            "levels": EPSILONS,
        },
    ),
    "counts protected together": (
        {
            "kind": "counts",
            "dataset": "town",
            "aggregate": "count_units",
            "columns": ["smokes", "runs"],
            "trade_off": "1.5",
            "mechanism": "gaussian",
            "wish": "rho",
            "level public": "0.005",
            "level internal": "0.5",
        },
        {
            "dataset": "town",
            "structure": "correlated",
            "aggregate": {"type": "count_units", "columns": ["smokes", "runs"]},
            "trade_off": 1.5,
            "mechanism": "gaussian",
            "levels": {"public": {"rho": 0.005}, "internal": {"rho": 0.5}},
        },
    ),
    "counts of a public size": (
        {
            "kind": "counts",
            "dataset": "town",
            "aggregate": "count_units",
            "columns": ["smokes", "runs"],
            "known_size": "300",
            "mechanism": "gaussian",
            "wish": "share",
            "share": "0.1",
        },
        {
            "dataset": "town",
            "structure": "correlated",
            "aggregate": {"type": "count_units", "columns": ["smokes", "runs"]},
            "known_size": 300,
            "mechanism": "gaussian",
            "share": 0.1,
        },
    ),
    "counts without their size": (
        {
            "kind": "counts",
            "dataset": "town",
            "aggregate": "count_units",
            "columns": ["smokes", "runs"],
            "release_size": "false",
            "mechanism": "gaussian",
            "wish": "share",
            "share": "0.1",
        },
        {
            "dataset": "town",
            "structure": "correlated",
            "aggregate": {"type": "count_units", "columns": ["smokes", "runs"]},
            "release_size": False,
            "mechanism": "gaussian",
            "share": 0.1,
        },
    ),
    "a sparse histogram of texts": (
        {
            "kind": "sparse",
            "dataset": "town",
            "aggregate": "count",
            "keys of": "tag",
            "domain": "string",
            "alphabet": "0123456789abcdef",
            "length": "4",
            **ONE,
            "false public": "0.01",
            "false internal": "0.1",
            "false_keys": "7",
            "mechanism": "gaussian",
            **LEVELS,
        },
        {
            "dataset": "town",
            "structure": "sparse_histogram",
            "aggregate": {"type": "count"},
            "group_by": [{"column": "tag"}],
            "domain": {"type": "string", "alphabet": "0123456789abcdef", "length": 4},
            "false_keys": {"public": 0.01, "internal": 0.1},
            "contribution": ROW,
            "mechanism": "gaussian",
            "levels": EPSILONS,
        },
    ),
    "a sparse histogram of numbers": (
        {
            "kind": "sparse",
            "dataset": "town",
            "aggregate": "count_units",
            "keys of": "age",
            "domain": "uint64",
            "size": "1000",
            "max_groups": "1",
            "false_keys": "0.5",
            "mechanism": "gaussian",
            "max_levels": "4",
            **LEVELS,
        },
        {
            "dataset": "town",
            "structure": "sparse_histogram",
            "aggregate": {"type": "count_units"},
            "group_by": [{"column": "age"}],
            "domain": {"type": "uint64", "size": 1000},
            "false_keys": 0.5,
            "contribution": {"max_groups": 1},
            "mechanism": "gaussian",
            "max_levels": 4,
            "levels": EPSILONS,
        },
    ),
    "a vector": (
        {
            "kind": "vector",
            "dataset": "sites",
            "values": "3\r\n 1.5\r\n\r\n4",
            "step": "0.5",
            "keys": "north\r\nsouth\r\nsea, and isles",
            "bound": "1000",
            "l1": "2",
            "linf": "1",
            "mechanism": "skellam",
            **LEVELS,
        },
        {
            "dataset": "sites",
            "values": [3, 1.5, 4],
            "keys": ["north", "south", "sea, and isles"],
            "step": 0.5,
            "bound": 1000,
            "sensitivity": {"l1": 2, "linf": 1},
            "mechanism": "skellam",
            "levels": EPSILONS,
        },
    ),
}
STREAMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a stream with an end": (
        {
            "dataset": "sites",
            "length": "365",
            "dimension": "2",
            "max_steps_per_unit": "3",
            "l1": "2",
            "structure": "kary",
            "k": "5",
            "mechanism": "gaussian",
            **LEVELS,
        },
        {
            "dataset": "sites",
            "length": 365,
            "dimension": 2,
            "max_steps_per_unit": 3,
            "sensitivity": {"l1": 2},
            "structure": "kary",
            "k": 5,
            "mechanism": "gaussian",
            "levels": EPSILONS,
        },
    ),
    "a stream without one": (
        {
            "dataset": "town",
            "length": "",
            "max_steps_per_unit": "1",
            "bound": "1000",
            "mechanism": "laplace",
            "wish": "share",
            "share": "0.2",
        },
        {
            "dataset": "town",
            "length": None,
            "max_steps_per_unit": 1,
            "bound": 1000,
            "mechanism": "laplace",
            "share": 0.2,
        },
    ),
}
UNLIKE = {"registered_at", "opened_at", "asserted_by"}


@pytest.fixture
def towns(open_copy: Callable[..., World], tmp_path: Path) -> Callable[[], World]:
    """Return a function that opens another copy of the furnished home, with one more dataset."""

    def opened() -> World:
        world = open_copy()
        settle(world, tmp_path)
        return world

    return opened


def signed_in(world: World) -> Browser:
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    return browser


def alike(view: Any) -> dict[str, Any]:
    return {name: part for name, part in view.items() if name not in UNLIKE}


def compare(towns: Callable[[], World], name: str, pages: str, api: str, sentence: str) -> None:
    """Send a form to one world and its spec to the API of another; the results must be equal."""
    fields, spec = {"queries": QUERIES, "streams": STREAMS}[api][name]
    by_form, by_api = towns(), towns()
    browser = signed_in(by_form)
    page = browser.submit(f"{pages}/preview", name=name, **fields)
    assert page.status_code == 200, text_of(page)
    assert sentence in page.text
    sent = browser.submit(pages, name=name, once="k" * 32, **fields)
    assert sent.status_code == 303, text_of(sent)
    assert browser.get(sent.location).status_code == 200
    by_api.answer("POST", f"/api/v1/{api}", {"name": name, **spec}, by="root")
    path = f"/api/v1/{api}/{name}"
    assert alike(by_form.answer("GET", path, by="root")) == alike(
        by_api.answer("GET", path, by="root")
    )


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if place % 2 else [])
        for place, name in enumerate(QUERIES)
    ],
)
def test_a_query_registered_by_form_is_that_of_the_api(
    towns: Callable[[], World], what: str
) -> None:
    compare(towns, what, "/new/query", "queries", "Share of its budget")


@pytest.mark.parametrize("what", STREAMS)
def test_a_stream_opened_by_form_is_that_of_the_api(towns: Callable[[], World], what: str) -> None:
    compare(towns, what, "/new/stream", "streams", "Structures at equal privacy")
