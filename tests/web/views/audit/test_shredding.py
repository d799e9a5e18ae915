"""Test datasets shredded by form: what is lost is said first, and their name is typed by hand."""

from urllib.parse import urlsplit

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import HOSTILE, Browser, Open, text_of

from penstock.errors import KeysUnavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import key_rotation

PATH = "/datasets/sites/shredding"


def test_what_is_lost_is_said_before_it_is(root: Browser, world: World) -> None:
    before = leaves(world)
    page = root.get(PATH)
    words = text_of(page)
    assert "5 queries and streams are retired" in words
    assert "visits 1 active 1" in words
    assert "secret 1 active 0" in words
    assert "arrivals 1 active 0" in words
    assert "It cannot be undone" in words
    assert leaves(world) == before
    assert f'href="{PATH}"' in root.get("/datasets/sites").text


@pytest.mark.parametrize("typed", [None, "", "on", "site", "sites2", HOSTILE])
def test_without_its_name_nothing_is_shredded(
    root: Browser, world: World, typed: str | None
) -> None:
    before = leaves(world)
    answer = root.submit(PATH, **({} if typed is None else {"sure": typed}))
    assert answer.status_code == 422
    assert 'id="sure-wrong"' in answer.text
    assert "<script>alert" not in answer.text
    assert leaves(world) == before


def test_shredded_it_says_so_everywhere_and_sent_again_it_stays_so(
    root: Browser, browse: Open, world: World
) -> None:
    release = world.answer("GET", "/api/v1/releases", by="ann")["items"][0]["id"]
    done = follow(root, root.submit(PATH, sure="sites"))
    assert "sites is shredded" in text_of(done)
    after = leaves(world)
    assert root.submit(PATH, sure="sites").status_code == 303
    assert leaves(world) == after
    assert "sites 1 shredded" in text_of(root.get("/keys"))
    ann = browse("ann")
    for browser in (root, ann):
        page = browser.get("/datasets/sites")
        assert page.status_code == 200
        assert "This dataset is shredded" in text_of(page)
        assert "/shredding" not in page.text
    assert "This query is retired" in text_of(root.get("/queries/visits"))
    assert ann.get("/budgets").status_code == 200
    lost = ann.get(f"/releases/{release}")
    assert lost.status_code in (409, 503)
    assert world.answer("GET", "/api/v1/datasets/sites/budget", by="root")["tiers"]


def test_under_the_two_person_rule_it_is_proposed_and_done_by_another(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    ruled, root, rita = two_admins
    assert "Propose shredding" in root.get(PATH).text
    sent = root.submit(PATH, sure="sites")
    address = urlsplit(sent.location).path
    assert "Nothing is done yet" in text_of(follow(root, sent))
    assert key_rotation.readable(ruled.server, "sites")
    assert root.submit(PATH, sure="sites").location == sent.location
    assert f'href="{PATH}">Show the preview' in rita.get(address).text
    page = follow(rita, rita.submit(f"{address}/approval"))
    assert "Approved and done" in text_of(page)
    assert 'href="/keys"' in page.text
    assert not key_rotation.readable(ruled.server, "sites")


def test_keys_that_do_not_answer_are_said_and_the_page_opens(
    root: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = text_of(root.get("/keys"))
    assert "Last rotated never" in words
    assert "penstock keys rotate" in words

    def away() -> object:
        raise KeysUnavailable("The ring is away.")

    with monkeypatch.context() as patch:
        patch.setattr(world.server.provider, "health", away)
        page = root.get("/keys")
    assert page.status_code == 200
    assert "The ring is away." in text_of(page)
    key_rotation.rotate(world.server, OPERATOR)
    assert "by operator , 4 keys" in text_of(root.get("/keys"))


def test_the_pages_of_keys_are_ours_and_small(root: Browser) -> None:
    for path in (PATH, "/datasets/closed/shredding", "/keys"):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE, path
