"""Test that a form that is sent twice is done once; its key is bound to its content."""

from tests.api.world import World
from tests.web.world import Open, text_of


def events(world: World) -> object:
    return world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")


def test_asking_twice_hands_out_the_same_once(browse: Open, world: World) -> None:
    browser = browse("ian")
    first, second = (browser.submit("/queries/visits/releases").location for _ in range(2))
    assert first == f"{second}&first=1"
    releases = world.answer("GET", "/api/v1/releases?query=visits", by="ian")["items"]
    assert len(releases) == 1
    assert releases[0]["id"] in first


def test_the_key_of_a_form_stands_for_what_was_sent_with_it_and_where(
    browse: Open, world: World
) -> None:
    root = browse("root")
    sent = {"name": "partner", "above": "public", "once": "1"}
    assert root.submit("/tiers", **sent).status_code == 303
    before = events(world)
    other = root.submit("/tiers", **{**sent, "name": "other"})
    elsewhere = root.submit("/users/ann/tokens", **sent)
    for answer in (other, elsewhere):
        assert answer.status_code == 409
        assert "sent before with other content" in text_of(answer)
    assert events(world) == before
