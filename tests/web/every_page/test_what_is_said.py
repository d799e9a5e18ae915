"""Test that what pages say of numbers, tiers and links is true, also in unusual cases."""

import re
from pathlib import Path
from urllib.parse import quote, urlsplit

from tests.api.world import World
from tests.web.towns import settle
from tests.web.world import Browser, Open, text_of

from penstock.web.presenters.template_filters import figure

MEAN = {
    "name": "mean_age",
    "dataset": "town",
    "aggregate": "mean",
    "column": "age",
    "max_groups": "1",
    "max_rows": "1",
    "mechanism": "gaussian",
    "level public": "0.3",
}


def test_what_is_off_is_the_sum_where_means_are_asked_for(
    root: Browser, browse: Open, world: World, tmp_path: Path
) -> None:
    """A sum of ages is off by tens where their mean is off by one."""
    settle(world, tmp_path)
    counted = {**MEAN, "aggregate": "count_units", "column": ""}
    assert "Margin of error of each sum" not in text_of(
        root.submit("/new/query/preview", **counted)
    )
    page = text_of(root.submit("/new/query/preview", **MEAN))
    assert "Margin of error of each sum" in page
    assert root.submit("/new/query", **MEAN).status_code == 303
    ann = browse("ann")
    for path in ("/queries/mean_age", "/queries/mean_age/request?tier=public"):
        words = text_of(ann.get(path))
        assert "for each sum. A mean is a noisy sum divided by a noisy count" in words
        assert "for each number" not in words
    levels = root.get("/queries/mean_age/levels?wish=epsilon&level+internal=0.31")
    assert "margin of error (95%) of a sum, from which a mean is computed" in text_of(levels)
    half = world.answer("GET", "/api/v1/queries/mean_age", by="ann")["tiers"][0]["error"]
    assert f"sum ±{figure(half['half_width'])}" in text_of(ann.get("/catalogue"))
    assert "you get the same numbers again" in text_of(ann.get("/queries/visits"))


def test_a_tier_below_all_others_is_not_said_to_have_budgets(root: Browser) -> None:
    for name, rank, budgets in (("lowest", "-5", False), ("middle", "15", True)):
        made = root.submit("/tiers", name=name, rank=rank, once=name)
        words = text_of(root.get(made.location))
        assert ("It has the budgets and levels of the tier below it" in words) is budgets
        assert ("It is the lowest tier, so it has no budget and no levels" in words) is not budgets


def test_a_release_leads_to_its_query_only_where_that_is_in_sight(
    browse: Open, world: World
) -> None:
    held = world.answer("POST", "/api/v1/queries/secret/releases", {}, by="ian")["id"]
    ian = browse("ian")
    link = 'href="/queries/secret"'
    assert link in ian.get(f"/releases/{held}").text
    world.answer("PATCH", "/api/v1/users/ian", {"clearance": "public"}, by="root")
    answer = ian.get(f"/releases/{held}")
    assert answer.status_code == 200
    assert link not in answer.text
    assert "you can still read this release" in text_of(answer)


def test_a_proposal_leads_an_auditor_to_no_page_of_admins(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    ruled, root, _ = two_admins
    olga = Browser(ruled, ruled.client.application.test_client())
    olga.sign_in("olga")
    answer = root.submit("/datasets/sites/budgets", **{"epsilon internal": "50"})
    address = urlsplit(answer.location).path
    link = 'href="/datasets/sites/budgets"'
    assert link in root.get(address).text
    assert link not in olga.get(address).text


def test_somebody_who_is_on_no_list_stays_chosen_to_be_moved(root: Browser) -> None:
    """Auditors and those who are disabled: else the first of the list would be moved."""
    for name in ("olga", "nobody at all"):
        page = root.get(f"/clearance?user={quote(name)}&tier=").text
        assert re.findall(r'<option value="([^"]*)" selected>', page)[0] == name


def test_a_tier_that_only_somebody_disabled_holds_can_be_made_free(root: Browser) -> None:
    root.submit("/tiers", name="partner", above="public", once="p")
    root.submit("/clearance", user="ian", tier="partner", **{"from": "internal"})
    root.submit("/users/ian/disabling", sure="ian")
    assert "Move its disabled users first" in text_of(root.get("/tiers/partner"))
    assert "· Move to another tier" in text_of(root.get("/users/ian"))
    page = text_of(root.get("/clearance?user=ian&tier=public"))
    assert "ian is disabled and receives no releases" in page
    assert "existing tokens and sessions" not in page
    moved = root.submit("/clearance", user="ian", tier="", **{"from": "partner"})
    assert "The tier is changed" in text_of(root.get(moved.location))
    assert root.submit("/tiers/partner/deletion", sure="partner").status_code == 303


def test_a_form_that_was_sent_with_something_else_is_told_of_and_can_be_sent(root: Browser) -> None:
    """Somebody goes back to a form that was done, and writes another name into it."""
    assert root.submit("/tiers", name="one", rank="50", once="k").status_code == 303
    again = root.submit("/tiers", name="two", rank="60", once="k")
    assert again.status_code == 409
    assert "Idempotency-Key" not in again.text
    assert 'name="name" value="two"' in again.text.replace('id="name" ', "")
    key = re.search(r'name="once" value="([^"]+)"', again.text)
    assert key is not None
    assert root.submit("/tiers", name="two", rank="60", once=key.group(1)).status_code == 303
