"""Test moving somebody: the consequences are shown first, and what was not shown is not done."""

import pytest
from tests.api.world import World
from tests.web.views.people.acting import follow, leaves
from tests.web.world import HOSTILE, Browser, text_of


def test_a_move_is_foreseen_before_it_is_made(root: Browser, world: World) -> None:
    before = leaves(world)
    page = root.get("/clearance?user=ann&tier=internal")
    words = text_of(page)
    for text in (
        "Move ann up to internal",
        "No budget is spent : each tier was charged",
        "secret in sites not visible 0.5",
        "visits in sites 0.1 0.5",
        "sites epsilon 1 (public) epsilon 4 (internal)",
        "ian already holds internal",
    ):
        assert text in words.replace("\u2068", ""), text
    assert leaves(world) == before
    answer = root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    assert "ann now holds internal" in text_of(follow(root, answer))
    assert world.answer("GET", "/api/v1/me", by="ann")["clearance"] == "internal"
    down = text_of(root.get("/clearance?user=ann&tier=public"))
    assert "a lower tier takes nothing back" in down
    assert "sites epsilon 4 (internal) epsilon 4 (internal)" in down


def test_what_a_move_shows_is_what_the_api_then_says(root: Browser, world: World) -> None:
    words = text_of(root.get("/clearance?user=ann&tier=internal"))
    root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    for query in world.answer("GET", "/api/v1/queries", by="ann")["items"]:
        best = query["tiers"][-1]["guarantee"]["epsilon"]
        assert f"{query['dataset']} " in words
        assert f"{best:.3g}" in words
    reach = world.answer("GET", "/api/v1/audit/exposure?users=ann&dataset=sites", by="olga")
    assert reach["reach"]["tier"] == "internal"


def test_a_move_that_was_shown_otherwise_is_not_made(root: Browser, world: World) -> None:
    """Two tabs: in the other one somebody was moved meanwhile."""
    root.submit("/clearance", user="ann", tier="", **{"from": "public"})
    before = leaves(world)
    answer = root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    assert answer.status_code == 409
    assert "after the preview was shown" in text_of(answer)
    assert leaves(world) == before
    again = root.submit("/clearance", user="ann", tier="", **{"from": "public"})
    assert again.status_code == 303
    assert leaves(world) == before


@pytest.mark.parametrize(
    ("user", "tier"), [("", ""), ("zeno", "public"), ("ann", "top"), (HOSTILE, HOSTILE)]
)
def test_a_move_of_nobody_or_to_nowhere_shows_the_form_again(
    root: Browser, user: str, tier: str
) -> None:
    answer = root.submit("/clearance", user=user, tier=tier)
    assert answer.status_code == 422
    assert "Nothing was done" in text_of(answer)
    assert 'aria-invalid="true"' in answer.text
    assert "<script>alert" not in answer.text
