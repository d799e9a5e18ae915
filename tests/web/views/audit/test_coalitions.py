"""Test who could learn what.

The same numbers as the API's, query by query, as a path where one is.
"""

import re
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from markupsafe import escape
from tests.api import world as api
from tests.api.world import World
from tests.web.world import HOSTILE, Browser, Grown, Open, text_of

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.exposure import by_query, by_tier, exposure
from penstock.services.pagination import Window
from penstock.web.presenters.template_filters import figure, loss

NAMED = quote(HOSTILE, safe="")
PAIR = ["ann", "ian"]
MANY = ",".join(f"a{number}" for number in range(1001))
BOTH = "/exposure?user=ann&user=ian"
APART: dict[str, Any] = {
    **api.QUERY,
    "name": "apart",
    "mechanism": "generalized_gaussian",
    "p": 4,
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
}


def hold(world: World) -> None:
    """Give ian two levels of everything."""
    world.answer("POST", "/api/v1/queries", APART, by="root")
    for name in ("visits", "apart", NAMED):
        for tier in ("public", "internal"):
            path = f"/api/v1/queries/{name}/releases"
            world.answer("POST", path, {"tier": tier}, by="ian")
    world.answer("GET", "/api/v1/streams/arrivals/releases", by="ann")


@pytest.fixture
def world(grown: Grown) -> World:
    """Return where ian holds two levels of everything."""
    return grown("coalitions", hold)


@pytest.fixture
def olga(browse: Open) -> Browser:
    """Return the auditor."""
    return browse("olga")


def shared(world: World, names: list[str]) -> dict[str, by_query.SharedQueryView]:
    page = by_query.shared(world.server, OPERATOR, names, Window())
    return {query.query: query for query in page.items}


def test_the_losses_are_those_of_the_api(olga: Browser, world: World) -> None:
    page = text_of(olga.get(f"{BOTH}&dataset=sites"))
    view = exposure.of(world.server, OPERATOR, PAIR, "sites")
    answer = world.answer("GET", "/api/v1/audit/exposure?users=ann,ian&dataset=sites", by="olga")
    for name in ("released", "independent", "could_be", "reach"):
        amount = getattr(view, name)
        assert answer[name]["epsilon"] == amount.epsilon
        assert loss(amount) in page
    assert view.released.epsilon < view.independent.epsilon


def test_each_query_says_who_stands_where(olga: Browser, world: World) -> None:
    visits = shared(world, PAIR)["visits"]
    assert visits.lossless
    assert [point.people for point in visits.points] == [["ian"], ["ann", "ian"]]
    assert [point.tiers for point in visits.points] == [["internal"], ["public"]]
    releases = world.answer("GET", "/api/v1/releases?query=visits&user=ian", by="olga")["items"]
    assert {point.level.value for point in visits.points} == {
        item["level"]["value"] for item in releases
    }
    assert {point.error.half_width for point in visits.points} == {
        item["error"]["half_width"] for item in releases
    }


def test_together_people_know_what_the_best_informed_knows(olga: Browser, world: World) -> None:
    pair, ian, ann = (shared(world, names) for names in (PAIR, ["ian"], ["ann"]))
    for name in ("visits", HOSTILE):
        assert pair[name].together == ian[name].together
        assert pair[name].together.epsilon < pair[name].independent.epsilon
    alone = ann["visits"]
    assert alone.together == alone.independent
    assert alone.together.epsilon < pair["visits"].together.epsilon


def test_levels_that_are_draws_of_their_own_are_composed_and_on_no_path(
    olga: Browser, world: World
) -> None:
    apart = shared(world, ["ian"])["apart"]
    assert not apart.lossless
    assert len(apart.points) == 2
    assert apart.together == apart.independent
    answer = world.answer("GET", "/api/v1/audit/exposure?users=ian&dataset=sites", by="olga")
    of_query = next(query for query in answer["queries"] if query["query"] == "apart")
    assert apart.together.epsilon > of_query["guarantee"]["epsilon"]
    page = olga.get("/exposure?user=ian").text
    articles = {
        name: next(part for part in page.split("<article") if f"<bdi>{name}</bdi></a>" in part)
        for name in ("visits", "apart", escape(HOSTILE))
    }
    for name, article in articles.items():
        assert ("noise path" in article) == (name != "apart")
        assert ("of this query is drawn independently" in article) == (name == "apart")


def numbers(page: str) -> tuple[list[str], list[str]]:
    """Return what pictures write beside their marks, and all cells of the tables beside them."""
    drawn = re.findall(r"<text[^>]*>([^<]+)</text>", page)
    return drawn, re.findall(r"<t[dh][^>]*>(?:<bdi>)?([^<]*)", page)


def test_every_number_of_a_picture_is_in_the_table_beside_it(olga: Browser) -> None:
    page = olga.get(BOTH).text
    pairs = re.findall(r"<figure>(.*?)</figure>\s*<details>(.*?)</details>", page, re.DOTALL)
    kinds = set()
    for picture, table in pairs:
        (drawn, _), (_, cells) = numbers(picture), numbers(table)
        for line in drawn:
            if line.startswith("ε "):
                kinds.add("loss")
                assert line in cells
            elif number := re.match(r"±([\d.,]+), ", line):
                kinds.add("path")
                assert number.group(1) in cells
            elif number := re.fullmatch(r"\u2212([\d.,]+) to ([\d.,]+)", line):
                kinds.add("draw")
                assert f"\u2212{number.group(1)}" in cells
                assert number.group(2) in cells
    assert kinds == {"loss", "path", "draw"}


def test_draws_of_their_own_are_drawn_with_their_people_and_joined_by_nothing(
    olga: Browser,
) -> None:
    page = olga.get("/exposure?user=ian").text
    article = next(part for part in page.split("<article") if "<bdi>apart</bdi></a>" in part)
    assert "public: ian" in article
    assert "internal: ian" in article
    assert 'class="whisker"' in article
    assert 'class="band"' not in article
    assert "With independent noise for each release" in article


def test_a_stream_is_shown_with_its_newest_interval(olga: Browser, world: World) -> None:
    point = shared(world, ["ann"])["arrivals"].points[0]
    stream = world.answer("GET", "/api/v1/streams/arrivals", by="ann")
    assert point.error.half_width == stream["tiers"][0]["error"]["half_width"]
    assert "newest total" in text_of(olga.get("/exposure?user=ann"))


def test_pages_of_queries_have_each_once(olga: Browser, world: World) -> None:
    names, window = [], Window(1)
    while True:
        page = by_query.shared(world.server, OPERATOR, PAIR, window)
        names += [query.query for query in page.items]
        if page.next_cursor is None:
            break
        window = Window.parse("1", page.next_cursor)
    assert sorted(names) == sorted(shared(world, PAIR)) == sorted([*{*names}])
    view = exposure.of(world.server, OPERATOR, PAIR)
    assert {*names} == {query.query for query in view.queries}


def test_a_page_of_queries_goes_on_with_the_same_people(
    olga: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.web.presenters.exposure_charts.SHOWN", 1)
    onward = re.search(r'href="(/exposure\?[^"]+cursor=[^"]+)"', olga.get(BOTH).text)
    assert onward is not None
    assert "user=ann&amp;user=ian" in onward.group(1)
    assert "2 people together" in text_of(olga.get(onward.group(1).replace("&amp;", "&")))


def test_the_form_shows_everybody_and_who_was_chosen(olga: Browser) -> None:
    page = olga.get(BOTH).text
    for name, chosen in (("ann", True), ("ian", True), ("noa", False), ("root", False)):
        ticked = " checked" if chosen else ""
        assert f'name="user" value="{name}"{ticked}>' in page
    assert "disabled" in text_of(olga.get("/exposure"))


@pytest.mark.parametrize(
    ("people", "status"),
    [
        *(("user=zeno", 404), ("user=ann&dataset=absent", 404), (f"user={NAMED}", 404)),
        *(("user=%00", 404), ("user=ann&cursor=made-up", 422), (f"users={MANY}", 422)),
        *(("user=noa", 200), ("users=ann,%20ian", 200), ("user=ann&user=ANN", 200)),
        *(("user=%20&user=", 200), ("user=root&dataset=closed", 200)),
    ],
)
def test_any_set_is_answered_or_refused_in_words(olga: Browser, people: str, status: int) -> None:
    answer = olga.get(f"/exposure?{people}")
    assert answer.status_code == status, answer.text
    assert 'name="user" value="ann"' in answer.text
    assert "<script>alert" not in answer.text


def test_whoever_holds_nothing_knows_nothing(olga: Browser) -> None:
    page = text_of(olga.get("/exposure?user=noa"))
    assert "None of them has received a release" in page
    assert "None of them ever held a tier" in page


def test_only_auditors_ask_about_others(olga: Browser, world: World) -> None:
    ian = acting_as(world.server, "ian")
    with pytest.raises(Forbidden):
        by_query.shared(world.server, ian, PAIR, Window())
    with pytest.raises(Forbidden):
        by_query.listing(world.server, ian, Window())
    assert by_query.shared(world.server, ian, ["IAN"], Window()).items


def test_everybody_who_holds_a_tier_is_one_link_away(olga: Browser) -> None:
    page = olga.get("/exposure?dataset=sites").text
    found = re.search(r'href="(/exposure\?[^"]+)">everybody who holds a tier', page)
    assert found is not None
    query = parse_qs(urlsplit(found.group(1).replace("&amp;", "&")).query)
    assert {"ann", "ian"} <= set(query["user"])
    assert "root" not in query["user"]
    assert query["dataset"] == ["sites"]
    together = text_of(olga.get(found.group(1).replace("&amp;", "&")))
    assert f"{len(query['user'])} people together" in together


def test_first_there_is_what_each_tier_could_learn_of_each_dataset(
    olga: Browser, world: World
) -> None:
    page = text_of(olga.get("/exposure"))
    matrix = by_tier.look(world.server, acting_as(world.server, "olga"))
    (sites,) = (row for row in matrix.datasets if row.dataset == "sites")
    assert sites.tiers is not None
    for tier in sites.tiers:
        assert tier is not None
        so_far = f"{figure(tier.released)} so far"
        assert f"{so_far} {figure(tier.possible)} possible of {figure(tier.budget)}" in page
    assert any(tier.released for tier in sites.tiers if tier)
    assert "Tiers and datasets" not in olga.get(BOTH).text
    assert olga.get("/exposure?dataset=nowhere").status_code == 404
