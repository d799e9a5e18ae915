"""Test levels of queries and streams moved by form: said before it is done, and then so."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import KEY, Browser, text_of
from werkzeug.test import TestResponse

SHOWN = re.compile(r'name="shown" value="([0-9a-f]{64})"')


def look(browser: Browser, path: str, **levels: str) -> TestResponse:
    """Return what a form says before it is sent."""
    return browser.get(f"{path}?{urlencode({'wish': 'epsilon', **levels})}")


def confirm(browser: Browser, path: str, **levels: str) -> TestResponse:
    """Look, and then send what the page offers to send."""
    shown = SHOWN.search(look(browser, path, **levels).text)
    assert shown is not None
    return browser.submit(path, **{"wish": "epsilon", "shown": shown.group(1), **levels})


@pytest.mark.parametrize("path", ["/queries/visits/levels", "/streams/arrivals/levels"])
def test_a_move_is_shown_before_it_is_made_and_made_as_shown(
    root: Browser, world: World, path: str
) -> None:
    before = leaves(world)
    page = look(root, path, **{"level public": "0.3"})
    words = text_of(page)
    assert "Nothing is done yet" in words
    assert "public ( ann ): may request more accurate releases" in words
    assert "Share of its budget" in words
    assert leaves(world) == before
    done = follow(root, confirm(root, path, **{"level public": "0.3"}))
    assert "The levels are changed" in text_of(done)
    kind, _, name = path.removesuffix("/levels").removeprefix("/").partition("/")
    tiers = world.answer("GET", f"/api/v1/{kind}/{name}", by="root")["tiers"]
    assert tiers[0]["guarantee"]["epsilon"] == pytest.approx(0.3, rel=0.03)
    level = (
        f"epsilon {tiers[0]['guarantee']['epsilon']:.3g}, ±{tiers[0]['error']['half_width']:.3g}"
    )
    assert level in words
    assert f"now epsilon {tiers[0]['guarantee']['epsilon']:.3g}" in text_of(done)


def test_the_share_on_the_page_is_what_the_budget_then_has(root: Browser, world: World) -> None:
    def spent() -> float:
        shown = world.answer("GET", "/api/v1/datasets/sites/budget", by="root")
        share: float = shown["tiers"][0]["spent_share"]
        return share

    before = spent()
    words = text_of(look(root, "/queries/visits/levels", **{"level public": "0.3"}))
    confirm(root, "/queries/visits/levels", **{"level public": "0.3"})
    paid = re.search(r"public epsilon \S+ ±\S+ epsilon \S+ ±\S+ ([0-9.]+)%", words)
    assert paid is not None, words
    assert float(paid.group(1)) == pytest.approx(100 * (spent() - before), rel=0.06)


def test_sent_twice_or_from_a_page_of_before_it_is_moved_once(root: Browser, world: World) -> None:
    path, levels = "/queries/visits/levels", {"level internal": "0.3"}
    old = SHOWN.search(look(root, path, **levels).text)
    assert old is not None
    sent = {"wish": "epsilon", "shown": old.group(1), **levels}
    first = root.submit(path, **sent)
    after = leaves(world)
    assert root.submit(path, **sent).location == first.location
    assert leaves(world) == after
    confirm(root, path, **{"level internal": "0.4"})
    between = leaves(world)
    late = root.submit(path, **sent)
    assert (late.status_code, "after the preview was shown" in text_of(late)) == (409, True)
    assert SHOWN.search(late.text)
    assert leaves(world) == between


def test_what_was_not_shown_is_not_moved(root: Browser, world: World) -> None:
    before = leaves(world)
    for shown in ("", "0" * 64):
        fields = {"wish": "epsilon", "shown": shown, "level internal": "0.3"}
        assert root.submit("/queries/visits/levels", **fields).status_code == 409
    bare = root.send("/queries/visits/levels", wish="epsilon", **{"level internal": "0.3"})
    assert bare.status_code == 403
    assert leaves(world) == before


@pytest.mark.parametrize("path", ["/queries/visits/levels", "/streams/arrivals/levels"])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"level public": "x"}, "This must be a number"),
        ({"level public": "-1"}, "This must be above 0"),
        ({"level public": "3"}, "noisier than that of the less trusted"),
        ({"wish": "rho", "level public": "1"}, "Choose how levels are given"),
        ({}, "levels left empty do not change"),
    ],
)
def test_a_refusal_keeps_what_was_typed(
    root: Browser, world: World, path: str, fields: dict[str, str], reason: str
) -> None:
    before = leaves(world)
    for answer in (look(root, path, **fields), root.submit(path, **{"wish": "epsilon", **fields})):
        assert answer.status_code == 422, text_of(answer)
        assert reason in text_of(answer)
        for name, typed in fields.items():
            if name != "wish":
                assert f'name="{name}" value="{typed}"' in answer.text
    assert leaves(world) == before


def test_what_the_budget_does_not_allow_is_said_and_not_offered(root: Browser) -> None:
    levels = {"level public": "0.99", "level internal": "0.99"}
    page = look(root, "/streams/arrivals/levels", **levels)
    assert page.status_code == 200
    assert "It would be refused" in text_of(page)
    assert "too little" in text_of(page)
    assert "Change levels</button>" not in page.text


def test_the_ceiling_of_what_the_server_reads_itself_is_raised_by_form(
    root: Browser, world: World
) -> None:
    spec = {
        "name": "lent",
        "dataset": "loans",
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": 1, "max_rows_per_group": 3},
        "mechanism": "gaussian",
        "levels": {"public": {"epsilon": 0.1}},
    }
    world.answer("POST", "/api/v1/queries", spec, by="root")
    page = look(root, "/queries/lent/levels", **{"level internal": "0.3"})
    assert "the exact values are read again" in text_of(page)
    done = confirm(root, "/queries/lent/levels", **{"level internal": "0.3"})
    assert done.status_code == 303, text_of(done)
    tiers = world.answer("GET", "/api/v1/queries/lent", by="root")["tiers"]
    assert tiers[-1]["guarantee"]["epsilon"] == pytest.approx(0.3, rel=0.03)


def test_the_ceiling_of_pushed_values_is_not_offered_without_them(root: Browser) -> None:
    page = look(root, "/queries/visits/levels", **{"level internal": "0.8"})
    assert "were pushed and are not stored" in text_of(page)
    assert "Change levels</button>" not in page.text
    path = "/queries/visits/levels"
    fields = {"wish": "epsilon", "level internal": "0.8"}
    assert root.submit(path, **fields).status_code == 409


def test_levels_may_be_given_by_how_far_off_numbers_are(root: Browser, world: World) -> None:
    path = "/queries/visits/levels"
    now = world.answer("GET", "/api/v1/queries/visits", by="root")["tiers"][0]["error"]
    half = now["half_width"] / 2
    page = root.get(f"{path}?{urlencode({'wish': 'half_width', 'level public': half})}")
    words = text_of(page)
    assert f"margin of error ±{half:.3g} instead of ±{now['half_width']:.3g}" in words


def test_the_pages_of_levels_are_ours_and_small(root: Browser, tmp_path: Path) -> None:
    for path in (
        *("/queries/visits/levels", "/streams/arrivals/levels", "/queries/books/levels"),
        "/queries/visits/levels?wish=epsilon&level+public=0.3",
        *("/queries/visits/retirement", "/streams/arrivals/retirement"),
    ):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE, path
        sent = [form for form in answer.text.split("<form")[1:] if 'method="post"' in form]
        assert all(KEY.search(form) for form in sent), path
