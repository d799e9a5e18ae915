"""Test tiers by form: inserted once, and refused beside the field that is wrong."""

import re

import pytest
from tests.api.world import World
from tests.web.views.people.acting import ONCE, follow, leaves, once
from tests.web.world import Browser, text_of


def test_a_tier_is_put_in_once_however_often_its_form_is_sent(root: Browser, world: World) -> None:
    key = once(root, "/tiers")
    fields = {"once": key, "name": "partner", "above": "public", "description": "who helps"}
    first = root.submit("/tiers", **fields)
    assert "Tier partner is inserted" in text_of(follow(root, first))
    before = leaves(world)
    assert root.submit("/tiers", **fields).location == first.location
    assert leaves(world) == before
    listed = world.answer("GET", "/api/v1/tiers", by="root")["items"]
    assert [tier["name"] for tier in listed] == ["public", "partner", "internal"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"name": "/"}, "name"),
        ({"name": "partner", "rank": "high"}, "rank"),
        ({"name": "partner", "rank": "10"}, "rank"),
        ({"name": "partner", "above": "absent"}, "above"),
        ({"name": "partner", "description": "a\x00b"}, "description"),
    ],
)
def test_a_form_that_cannot_be_meant_comes_again_with_what_was_typed(
    root: Browser, world: World, fields: dict[str, str], place: str
) -> None:
    before = leaves(world)
    given = {"name": "partner", "description": "who <helps>", **fields}
    answer = root.submit("/tiers", once=once(root, "/tiers"), **given)
    assert answer.status_code == 422
    assert re.search(rf'<small class="wrong" id="{place}-wrong">[^<]+\.</small>', answer.text)
    assert "&lt;helps&gt;" in answer.text or "description" in fields
    assert leaves(world) == before
    mended = {**given, "name": "partner", "rank": "", "above": "public", "description": ""}
    key = ONCE.search(answer.text)
    assert key is not None
    assert root.submit("/tiers", once=key.group(1), **mended).status_code == 303


def test_only_what_is_true_is_reported_as_done(root: Browser) -> None:
    """Anybody can type an address, which must not make the page report what never happened."""
    assert "ann now holds public" in text_of(root.get("/tiers?moved=ann"))
    assert "Tier internal is inserted" in text_of(root.get("/tiers?made=internal"))
    for made_up in ("moved=absent", "made=absent", "moved=", "made="):
        assert 'role="status"' not in root.get(f"/tiers?{made_up}").text


def test_a_tier_that_is_not_there_has_no_page(root: Browser) -> None:
    assert root.get("/tiers/absent").status_code == 404
    assert root.submit("/tiers/absent/deletion", sure="absent").status_code == 404
