"""Test a query's page: which of the levels that somebody holds are drawn stands in its address."""

import re
from urllib.parse import urlencode

import pytest
from tests.api.world import World
from tests.web.world import Browser, Grown, Open, text_of

from penstock.services.queries import queries
from penstock.web.presenters.release_charts import MOST_DRAWN

BOX = re.compile(r'type="(\w+)" name="level" value="([^"]+)" aria-label="Show ([^"]+)"( checked)?>')
LINES = re.compile(r"<g [^>]*><title>([^<]*)</title>")


def hold(world: World) -> None:
    """Give ian ten levels of visits, and two of a sparse histogram."""
    for tier in ("internal", "public"):
        for query in ("visits", "books"):
            world.answer("POST", f"/api/v1/queries/{query}/releases", {"tier": tier}, by="ian")
    for number in range(1, 9):
        body = {"level": 4000.0 * 4**number}
        world.answer("POST", "/api/v1/queries/visits/releases", body, by="ian")


@pytest.fixture
def ian(grown: Grown) -> Browser:
    """Return a user who holds ten levels of visits, and two of a sparse histogram."""
    world = grown("levels", hold)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("ian").status_code == 303
    return browser


def boxes(page: str) -> list[tuple[str, str, str, bool]]:
    """Return what each box of the page chooses: its kind, release, name, and whether it is on."""
    return [(kind, release, name, bool(on)) for kind, release, name, on in BOX.findall(page)]


def page_of(browser: Browser, query: str, *levels: str) -> str:
    answer = browser.get(
        f"/queries/{query}?{urlencode([('level', release) for release in levels])}"
    )
    assert answer.status_code == 200
    return answer.text


def figures(browser: Browser, query: str, release: str) -> list[str]:
    """Return the table of a release's own page."""
    own = browser.get(f"/releases/{release}").text
    return re.findall(r'<td class="right">([^<]*)</td>', own[own.index("<caption>") :])


def test_without_a_choice_the_most_accurate_are_drawn_and_all_are_in_the_table(
    ian: Browser,
) -> None:
    page = page_of(ian, "visits")
    every = boxes(page)
    assert [on for *_, on in every] == [True] * MOST_DRAWN + [False] * (10 - MOST_DRAWN)
    assert len({name for _, _, name, _ in every}) == 10
    assert "6 of your 10 levels are shown" in text_of(ian.get("/queries/visits"))
    for _, release, name, _ in every:
        numbers = figures(ian, "visits", release)
        assert len(numbers) == 6
        assert f"{name}: value" in page
        assert all(f">{number}</td>" in page for number in numbers)


def test_those_that_are_chosen_are_drawn_and_no_other(ian: Browser) -> None:
    every = boxes(page_of(ian, "visits"))
    wanted = [every[0], every[7], every[9]]
    page = page_of(ian, "visits", *(release for _, release, _, _ in wanted))
    assert [release for _, release, _, on in boxes(page) if on] == [box[1] for box in wanted]
    drawn = {line.split(", ", 1)[1].rsplit(":", 1)[0] for line in LINES.findall(page)}
    assert drawn == {name for _, _, name, _ in wanted}
    first = figures(ian, "visits", wanted[0][1])[0]
    assert any(f": {first} (" in line for line in LINES.findall(page))


def test_a_level_keeps_its_color_whatever_is_drawn_beside_it(ian: Browser) -> None:
    every = boxes(page_of(ian, "visits"))

    def color(page: str, name: str) -> str:
        group = re.search(rf'<g class="(t\d)"[^>]*><title>\w+, {re.escape(name)}:', page)
        assert group is not None
        return group.group(1)

    (_, release, name, _), (_, beside, _, _) = every[3], every[8]
    two = page_of(ian, "visits", release, beside)
    assert color(page_of(ian, "visits"), name) == color(two, name)


def test_of_a_sparse_histogram_one_level_is_drawn_at_a_time(ian: Browser) -> None:
    best, other = boxes(page_of(ian, "books"))
    assert (best[0], best[3], other[3]) == ("radio", True, False)
    assert best[2] == "internal"
    page = page_of(ian, "books", other[1])
    assert [on for *_, on in boxes(page)] == [False, True]
    numbers = figures(ian, "books", other[1])
    assert re.findall(r'<td class="right">([^<]*)</td>', page[page.index("<caption>") :])[
        : len(numbers)
    ] == (numbers)


@pytest.mark.parametrize("made_up", ["x", "0" * 36, "' or 1=1", ""])
def test_what_is_not_held_is_as_if_it_were_not_chosen(ian: Browser, made_up: str) -> None:
    plain = page_of(ian, "visits")
    assert page_of(ian, "visits", made_up) == plain
    others = ian.world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")["id"]
    ids = {release for _, release, _, _ in boxes(plain)}
    assert (page_of(ian, "visits", others) == plain) or others in ids


def test_which_state_was_read_is_shown_to_admins_and_auditors(
    browse: Open, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "states_of", lambda _: ["snapshot 812:815:", "snapshot 820:820:"])
    for name in ("root", "olga"):
        page = text_of(browse(name).get("/queries/visits"))
        assert "Rows read snapshot 812:815:" in page
        assert "Rows read again snapshot 820:820:" in page
    for name in ("ann", "ian"):
        page = browse(name).get("/queries/visits").text
        assert "812:815" not in page
        assert "Rows read" not in page
