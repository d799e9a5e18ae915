"""Test all pages of admins: destructive acts ask for a name, names are text, pages stay small."""

from urllib.parse import quote

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import leaves
from tests.web.world import HOSTILE, KEY, Browser, text_of


@pytest.mark.parametrize("typed", [None, "", "on", "visit", HOSTILE])
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/queries/visits/retirement", "visits"),
        ("/streams/arrivals/retirement", "arrivals"),
        ("/tiers/partner/deletion", "partner"),
        ("/users/ian/disabling", "ian"),
    ],
)
def test_what_takes_away_for_ever_is_done_to_what_is_named_by_hand(
    root: Browser, world: World, path: str, name: str, typed: str | None
) -> None:
    """Whatever the browser makes of a field that it should require."""
    root.submit("/tiers", once="1", name="partner", above="public")
    before = leaves(world)
    answer = root.submit(path, **({} if typed is None else {"sure": typed}))
    assert answer.status_code == 422
    assert f"Type {name!r} to confirm" in text_of(answer).replace("&#39;", "'")
    assert 'id="sure-wrong"' in answer.text
    assert "<script>alert" not in answer.text
    assert leaves(world) == before


def test_names_are_text_on_the_pages_of_admins(root: Browser, world: World) -> None:
    bold = HOSTILE.replace("/", "")
    body = {"name": bold, "roles": ["analyst"], "clearance": "public"}
    world.answer("POST", "/api/v1/users", body, by="root")
    world.answer("POST", "/api/v1/tiers", {"name": bold, "above": "public"}, by="root")
    named = quote(bold, safe="")
    for path in (
        *("/tiers", f"/tiers/{named}", f"/clearance?user={named}&tier={named}", "/users"),
        *(f"/users/{named}", "/datasets/sites/budgets", "/new/dataset?source=vector"),
        *(f"/tiers?made={named}", f"/new/query?dataset={named}", f"/proposals?state={named}"),
    ):
        page = root.get(path).text
        assert "<script>alert" not in page, path
        assert "<b onload" not in page, path
    world.answer("PATCH", f"/api/v1/users/{named}", {"clearance": bold}, by="root")
    assert "x&lt;script&gt;" in root.get("/tiers").text


def test_pages_of_admins_hold_what_is_ours_and_stay_small(root: Browser, world: World) -> None:
    for path in (
        *("/tiers", "/tiers/public", "/clearance?user=ann&tier=internal", "/clearance?user=x"),
        *("/users", "/users/ann", "/keys", "/proposals", "/datasets/sites/budgets", "/new/query"),
        *("/new/query?dataset=loans", "/new/dataset", "/new/dataset?source=vector"),
    ):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE, path
        forms = root.get(path).text.split("<form")[1:]
        sent = [form for form in forms if 'method="post"' in form]
        assert all(KEY.search(form) for form in sent), path
