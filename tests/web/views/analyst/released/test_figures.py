"""Test that a notebook draws what the pages draw, byte for byte, for every kind of query."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.queries.people import HABITS
from tests.api.world import World
from tests.web.charts.pictures import parsed, texts
from tests.web.towns import town_in
from tests.web.world import Browser, Grown

from penstock.connectors.specs.models import _AGGREGATES
from penstock.web.charts.drawing.svg import WIDE
from penstock_client import Client, InvalidArgument, Query, Release
from penstock_client._show.figures import drawn, drawn_totals

TOWNS = [{"column": "town"}]
KINDS: dict[str, dict[str, Any]] = {
    "count": {"aggregate": {"type": "count"}},
    "grouped": {"aggregate": {"type": "count"}, "group_by": TOWNS},
    "two-way": {
        "aggregate": {"type": "count"},
        "group_by": [*TOWNS, {"column": "smokes"}],
    },
    "count_units": {"aggregate": {"type": "count_units"}, "group_by": TOWNS},
    "sum": {"aggregate": {"type": "sum", "column": "age"}, "group_by": TOWNS},
    "mean": {"aggregate": {"type": "mean", "column": "age"}, "group_by": TOWNS},
    "histogram": {"aggregate": {"type": "histogram", "column": "age", "bins": [0, 20, 50, 100]}},
    "two-way with an order": {
        "aggregate": {"type": "histogram", "column": "age", "bins": [0, 20, 50, 100]},
        "group_by": TOWNS,
    },
    "moments": {"aggregate": {"type": "moments", "columns": ["age"]}},
    "regression": {"aggregate": {"type": "regression", "outcome": "age", "predictors": ["stays"]}},
    "quantiles": {
        "aggregate": {"type": "quantiles", "column": "age", "probabilities": [0.25, 0.5, 0.75]}
    },
    "grouped quantiles": {
        "aggregate": {"type": "quantiles", "column": "age", "probabilities": 0.5},
        "group_by": TOWNS,
    },
    "marginals": {"aggregate": {"type": "marginals", "columns": ["town", "smokes"]}},
    "workload": {
        "aggregate": {"type": "workload", "columns": ["town"], "queries": ["prefix"]},
    },
    "uncategorized": {"aggregate": {"type": "uncategorized", "column": "town"}},
    "correlated": {
        "aggregate": {"type": "count_units", "columns": HABITS},
        "structure": "correlated",
    },
}
COMMON = {
    "dataset": "town",
    "mechanism": "gaussian",
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "levels": {"public": {"rho": 0.0005}, "internal": {"rho": 0.05}},
}

SPARSE, PUSHED, STREAM = "books", "visits", "arrivals"
"""What the furnished home has besides."""

WORDED = {
    "title": "People of the town",
    "unit": "people",
    "labels": {"north": "The North <side>", "true": "yes"},
}


def stayed(folder: Path) -> dict[str, Any]:
    """Return a dataset with two numbers for each person."""
    town, file = town_in(folder), folder / "town.csv"
    first, *rows = file.read_text("utf-8").splitlines()
    lines = [f"{first},stays", *(f"{row},{place % 7}" for place, row in enumerate(rows))]
    file.write_text("\n".join(lines), encoding="utf-8")
    stays = {"type": "integer", "lower": 0, "upper": 9}
    return {**town, "columns": {**town["columns"], "stays": stays}}


@pytest.fixture
def ian(grown: Grown, tmp_path: Path) -> tuple[Client, Browser]:
    """Return a client and a browser of somebody who has a release of every kind of query."""

    def fill(world: World) -> None:
        world.answer("POST", "/api/v1/datasets", stayed(tmp_path), by="root")
        for name, spec in KINDS.items():
            world.answer("POST", "/api/v1/queries", {**COMMON, **spec, "name": name}, by="root")
        world.answer("PATCH", "/api/v1/queries/grouped", WORDED, by="root")
        world.answer("PATCH", "/api/v1/queries/grouped%20quantiles", WORDED, by="root")
        for name in (*KINDS, SPARSE, PUSHED):
            address = f"/api/v1/queries/{name.replace(' ', '%20')}/releases"
            world.answer("POST", address, {}, by="ian")

    world = grown("drawn", fill)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("ian").status_code == 303
    transport = httpx.WSGITransport(world.client.application)
    return Client("http://127.0.0.1", world.tokens["ian"], transport=transport), browser


def test_every_kind_of_query_is_here() -> None:
    kinds = {str(spec["aggregate"]["type"]) for spec in KINDS.values()}
    assert kinds == set(_AGGREGATES)


def same(browser: Browser, release: Release, query: Query, group: object = None) -> str:
    """Return the figure of a release, which is the same on its page, in a file and here."""
    keys = [each.key for each in release.distributions]
    chosen = f"?group={keys.index(group) + 1}" if group is not None else ""  # type: ignore[arg-type]
    address = f"/releases/{release.id}"
    figure = release.figure(query, group=group)  # type: ignore[arg-type]
    assert browser.get(f"{address}/chart/svg{chosen}").text == figure.svg
    page = browser.get(f"{address}{chosen}").text
    drawing = drawn(release, query.wording, group)  # type: ignore[arg-type]
    assert drawing.draw("results-wide", WIDE) in page
    parsed(figure.svg)
    return figure.svg


def test_a_release_has_the_figure_of_its_page_whatever_its_query_is(
    ian: tuple[Client, Browser],
) -> None:
    client, browser = ian
    queries = {query.name: query for query in client.queries()}
    figures = {
        name: same(browser, client.release(name), queries[name])
        for name in (*KINDS, SPARSE, PUSHED)
    }
    assert len(set(figures.values())) == len(figures)
    worded = figures["grouped"]
    assert "People of the town for internal: from " in worded
    assert "The North &lt;side&gt;" in worded
    assert "People, with 95% confidence intervals" in worded
    assert "People of the town" not in client.release("grouped").figure().svg
    assert "of 2 lines" in figures["two-way with an order"]
    assert ": from " in figures["two-way"]
    grouped = client.release("grouped quantiles")
    by_group = [
        same(browser, grouped, queries[grouped.query], group) for group in ("north", "south")
    ]
    assert by_group[0] == figures[grouped.query] != by_group[1]
    with pytest.raises(InvalidArgument, match="no distribution function of 'west'"):
        grouped.figure(group="west")
    with pytest.raises(InvalidArgument, match="numbers of 'count', not of 'grouped'"):
        client.release("count").figure(queries["grouped"])
    with pytest.raises(InvalidArgument, match="no distribution functions"):
        client.release("count").figure(group="north")


def test_two_keys_have_a_heat_map_and_one_of_margins_on_their_pages(
    ian: tuple[Client, Browser],
) -> None:
    client, browser = ian
    release = client.release("two-way")
    (wording,) = (each.wording for each in client.queries() if each.name == "two-way")
    for look in ("", "map", "margins"):
        page = browser.get(f"/releases/{release.id}?show={look}").text
        assert drawn(release, wording, show=look).draw("results-wide", WIDE) in page
        assert f'href="/releases/{release.id}?show=margins"' in page
        figure = release.figure(show=look)
        assert browser.get(f"/releases/{release.id}/chart/svg?show={look}").text == figure.svg
        assert f"/chart/svg?show={look}" in page or not look
        assert browser.get(f"/queries/two-way?show={look}").text.count('aria-current="true"') == 1
    table = client.release("marginals")
    shown = texts(table.figure().svg)
    two_way = table.marginals[2]
    assert two_way.columns == ("town", "smokes")
    assert {f"{value:,.0f}" for value in two_way.values.values()} <= set(shown)
    assert "margins" in table.figure(show="margins").message
    home = browser.get("/home")
    assert (home.status_code, 'class="cell"' in home.text) == (200, False)
    refused = browser.get(f"/releases/{release.id}?show=loud")
    assert (refused.status_code, "as map" in refused.text) == (422, True)
    with pytest.raises(InvalidArgument, match="not 'loud'"):
        release.figure(show="loud")


def test_running_totals_have_the_figure_of_their_streams_page(ian: tuple[Client, Browser]) -> None:
    client, browser = ian
    (stream,) = (each for each in client.streams() if each.name == STREAM)
    totals = client.stream(STREAM)
    figure, drawing = totals.figure(stream), drawn_totals(totals, stream)
    page = browser.get(f"/streams/{STREAM}/totals").text
    assert drawing.draw("totals0-0-wide", WIDE) in page
    assert browser.get(f"/streams/{STREAM}/chart/svg").text == figure.svg
    assert figure.svg.count(">Value by step") == figure.svg.count(">Running total") == 1
    # How totals share noise is known from their stream alone.
    assert ">Value by step" not in totals.figure().svg
    assert figure.message == totals.figure().message
    with pytest.raises(InvalidArgument, match="none of number 1"):
        totals.figure(stream, number=1)
