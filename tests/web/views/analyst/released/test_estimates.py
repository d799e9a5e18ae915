"""Test that moments and quantiles are registered by form, and shown on a release's page."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from tests.api.world import World
from tests.web.towns import settle, town_in
from tests.web.world import Browser, Open, text_of

from penstock_client import Release
from penstock_client._http.fields import Fields
from penstock_client.derived import answers, difference

FORM = {
    "name": "ages",
    "dataset": "town",
    "aggregate": "moments",
    "factors": ["age"],
    "max_groups": "1",
    "max_rows": "1",
    "mechanism": "gaussian",
    "level public": "0.9",
}


def test_a_form_registers_moments_and_a_releases_page_has_the_estimates(
    world: World, root: Browser, browse: Open, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    preview = text_of(root.submit("/new/query/preview", **FORM))
    assert "Standard deviations of estimates" in preview
    assert "n 5, sum:age 8, sum:age,age 7" in preview
    assert root.submit("/new/query", **FORM, once="e" * 32).status_code == 303
    assert "means, variances and correlations of age" in text_of(root.get("/queries/ages"))
    released = world.answer("POST", "/api/v1/queries/ages/releases", {}, by="ann")
    page = browse("ann").get(f"/releases/{released['id']}")
    assert "Estimates with intervals at 95%" in text_of(page)
    table = page.text[page.text.index('aria-label="Estimates"') :]
    rows = re.findall(r'<th scope="row">(.*?)</th>', table)
    assert rows[:4] == [
        "n",
        *(f"{kind} of <bdi>age</bdi>" for kind in ("sum", "mean", "variance")),
    ]
    assert "too large" not in table


def test_a_form_without_columns_says_what_to_enter(
    world: World, root: Browser, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    page = root.submit("/new/query", **{**FORM, "factors": []}, once="f" * 32)
    assert page.status_code == 422
    assert "Name at least one column" in text_of(page)
    slope = {**FORM, "aggregate": "regression", "factors": ["age"], "column": "age"}
    page = root.submit("/new/query", **slope, once="g" * 32)
    assert "The outcome is one of the predictors" in text_of(page)


def test_a_form_takes_weights_as_previews_write_them_and_keeps_what_it_refuses(
    world: World, root: Browser, tmp_path: Path
) -> None:
    town = town_in(tmp_path)
    file = tmp_path / "town.csv"
    first, *rows = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([f"{first},stays", *(f"{row},3" for row in rows)]), encoding="utf-8")
    town["columns"] = {**town["columns"], "stays": {"type": "integer", "lower": 0, "upper": 9}}
    world.answer("POST", "/api/v1/datasets", town, by="root")
    slope = {**FORM, "aggregate": "regression", "factors": ["age"], "column": "stays"}
    own = "n 3, sum:age 4, sum:stays 5, sum:age,age 6, sum:age,stays 7, sum:stays,stays 1"
    chosen = "n 5, sum:age 8, sum:stays 6, sum:age,age 6, sum:age,stays 8, sum:stays,stays 2"
    as_json = '{"n": 3, "sum:age": 4, "sum:age,age": 6}'
    for form, typed, shown in (
        (slope, "", chosen),
        (slope, own, own),
        (slope, own.replace(", ", " ,\t"), own),
        (slope, "equal", "equal weights"),
        (FORM, as_json, "n 3, sum:age 4, sum:age,age 6"),
    ):
        page = root.submit("/new/query/preview", **form, weights=typed)
        assert f"by which its noise is divided: {shown} . The margins" in text_of(page)
        assert f'value="{typed}" maxlength="15000"' in unescape(page.text)
    for typed, words in (
        ("n 5, sum:age 8", "Each of the numbers n, sum:age, sum:age,age has a weight; "),
        ("n 5, sum:age 8, sum:age,age 7, sum:x 1", "sum:x is none of them"),
        ("n 5, sum:age 8, sum:age,age 65", "This must be at most 64"),
        ("n 5, sum:age 8, sum:age,age 0", "This must be at least 1"),
        ("n 5, sum:age 8, sum:age,age 1.5", "This must be an integer"),
        ("n 5, n 5, sum:age 8, sum:age,age 7", "This must be equal, or a weight"),
        ("n 5, sum:age 8, sum:age,age", "This must be equal, or a weight"),
        ("unequal", "This must be equal, or a weight"),
        ('{"n": ', "This must be equal, or a weight"),
        ("[" * 200, "This must be equal, or a weight"),
        (", ,", "This must be equal, or a weight"),
    ):
        page = root.submit("/new/query", **FORM, weights=typed, once="j" * 32)
        assert page.status_code == 422
        beside = page.text[page.text.index('<small class="wrong" id="weights-wrong">') :]
        assert words in beside[: beside.index("</small>")]
        assert f'value="{typed}" maxlength="15000"' in unescape(page.text)
    assert root.submit("/new/query", **slope, weights=own, once="k" * 32).status_code == 303
    spec = world.answer("GET", "/api/v1/queries/ages", by="root")["spec"]
    pairs = [f"{label} {weight}" for label, weight in spec["aggregate"]["weights"].items()]
    assert sorted(pairs) == sorted(own.split(", "))
    shown = text_of(root.get("/queries/ages"))
    assert "Regression of stays on age, " in shown
    assert f", with weights {', '.join(pairs)}" in shown


def test_a_form_registers_quantiles_and_a_releases_page_reads_further_ones(
    world: World, root: Browser, browse: Open, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    form = {**FORM, "aggregate": "quantiles", "column": "age", "factors": [], "bins": "20"}
    form |= {"probabilities": "0.25, 0.5", "level public": "0.9"}
    preview = root.submit("/new/query/preview", **form)
    assert preview.status_code == 200
    assert "Margin of the median’s rank, in rows" in text_of(preview)
    assert "quantile 0.25" in preview.text[preview.text.index("Margins of ranks") :]
    assert root.submit("/new/query", **form, once="h" * 32).status_code == 303
    assert "quantiles of age at 0.25, 0.5" in text_of(root.get("/queries/ages"))
    released = world.answer("POST", "/api/v1/queries/ages/releases", {}, by="ann")
    path = f"/releases/{released['id']}"
    page = browse("ann").get(path)
    rows = re.findall(r'<th scope="row">(.*?)</th>', page.text)
    assert {"n", "quantile 0.25", "quantile 0.5", "median"} <= set(rows)
    assert (
        "quantile 0.25"
        in page.text.partition("<main")[2].partition("<svg")[2].partition("</svg>")[0]
    )
    assert 'name="group"' not in page.text
    further = browse("ann").get(f"{path}?probabilities=0.9")
    assert "quantile 0.9" in text_of(further)
    assert browse("ann").get(f"{path}?probabilities=2").status_code == 422


def test_of_quantiles_by_group_one_distribution_function_is_drawn_and_others_are_chosen(
    world: World, browse: Open, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    query = {
        "name": "ages",
        "dataset": "town",
        "group_by": ["town"],
        "mechanism": "gaussian",
        "aggregate": {"type": "quantiles", "column": "age"},
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
        "levels": {"public": {"epsilon": 0.9}},
    }
    world.answer("POST", "/api/v1/queries", query, by="root")
    released = world.answer("POST", "/api/v1/queries/ages/releases", {}, by="ann")
    path, ann = f"/releases/{released['id']}", browse("ann")
    for number, town in enumerate(("north", "south"), 1):
        page = ann.get(f"{path}?group={number}&probabilities=0.9")
        assert f'<option value="{number}" selected>{town}</option>' in page.text
        drawn = page.text.partition("<main")[2].partition("<svg")[2].partition("</svg>")[0]
        assert f'<title id="results-narrow-title">ages, {town} for ' in drawn
        assert "Share of rows below each edge of 101 bins. quantile 0.9" in drawn
    assert 'name="group" value="2"' in page.text
    assert ann.get(f"{path}?group=4").status_code == 422


def test_a_form_of_quantiles_says_which_probability_is_none(
    world: World, root: Browser, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    form = {**FORM, "aggregate": "quantiles", "column": "age", "probabilities": "1.5"}
    page = root.submit("/new/query", **form, once="i" * 32)
    assert page.status_code == 422
    assert "above 0 and below 1" in text_of(page)


TABLES = {
    "name": "tables",
    "dataset": "town",
    "aggregate": "marginals",
    "group 0": "age",
    "edges 0": "0, 18, 65, 120",
    "group 1": "town",
    "up_to": "2",
    "max_groups": "1",
    "max_rows": "1",
    "mechanism": "gaussian",
    "level public": "0.9",
}


def test_a_form_registers_marginals_and_a_releases_page_has_the_tables(
    world: World, root: Browser, browse: Open, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    wrong = root.submit("/new/query", **{**TABLES, "edges 0": ""}, once="h" * 32)
    assert "Keys are declared, never discovered" in text_of(wrong)
    assert root.submit("/new/query", **TABLES, once="i" * 32).status_code == 303
    assert "marginals of all sets of at most 2 columns" in text_of(root.get("/queries/tables"))
    released = world.answer("POST", "/api/v1/queries/tables/releases", {}, by="ann")
    page = browse("ann").get(f"/releases/{released['id']}")
    assert page.text.count('aria-label="Marginal ') == 3
    assert "By age and town" in text_of(page)


ANSWERS = {
    "name": "answers",
    "dataset": "town",
    "aggregate": "workload",
    "group 0": "age",
    "edges 0": "0, 5, 10, 15",
    "queries": "prefix",
    "strategy_rows": "[[[1, 0, 0], [0, 1, 0], [0, 1, 1]]]",
    "max_groups": "1",
    "max_rows": "1",
    "mechanism": "gaussian",
    "level public": "0.9",
}


def test_a_form_previews_and_registers_a_workload_and_its_releases_have_the_answers(
    world: World, root: Browser, browse: Open, tmp_path: Path
) -> None:
    settle(world, tmp_path)
    previewed = text_of(root.submit("/new/query/preview", **ANSWERS))
    assert "Strategies for these answers at equal privacy" in previewed
    assert "the strategy of the query" in previewed
    for text, words in (("[[[1", "named matrices"), ("[" * 200, "named matrices"), ("7", "a list")):
        refused = root.submit("/new/query/preview", **{**ANSWERS, "strategy_rows": text})
        assert words in text_of(refused)
    assert root.submit("/new/query", **ANSWERS, once="f" * 32).status_code == 303
    shown = text_of(root.get("/queries/answers"))
    assert "answers over age (bins from 0, 5, 10, the last to 15)" in shown
    assert "protected are 3 rows of integers of age" in shown
    released = world.answer("POST", "/api/v1/queries/answers/releases", {}, by="ann")
    page = browse("ann").get(f"/releases/{released['id']}")
    assert "Computed from the sums above, which the query protects" in text_of(page)
    table = page.text[page.text.index('aria-label="Estimates"') :]
    assert re.findall(r"<td><bdi>(.*?)</bdi></td><th", table)[:3] == [
        "[0, 5)",
        "[0, 5) to [5, 10)",
        "all",
    ]
    own = answers(Release.read(Fields(released, "release")))
    exact = difference(own, "all", "[0, 5)")
    choice = {"quantity": "difference", "first": "all", "second": "[0, 5)"}
    computed = browse("ann").get(f"/releases/{released['id']}?{urlencode(choice)}").text
    row = computed[computed.index('aria-label="Computed"') :]
    cells = re.findall(r'<td class="right">([^<]*)</td>', row[: row.index("</table>")])
    for cell, number in zip(cells, (exact.value, exact.lower, exact.upper), strict=True):
        assert abs(float(cell.replace(",", "")) - number) <= 0.005 * abs(number) + 0.51
