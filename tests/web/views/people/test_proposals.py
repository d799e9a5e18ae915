"""Test proposals: what takes two admins is proposed by one and approved by another."""

from collections.abc import Callable
from urllib.parse import urlsplit

from tests.api.world import World
from tests.web.views.people.acting import follow
from tests.web.world import Browser, text_of


def test_under_the_two_person_rule_pages_propose_what_takes_two(
    open_copy: Callable[..., World],
) -> None:
    """As over the API; and whoever proposed it is offered no button to approve it."""
    ruled = open_copy(two_person_rule=True)
    root = Browser(ruled, ruled.client.application.test_client())
    assert root.sign_in("root").status_code == 303
    answer = root.submit("/datasets/sites/budgets", **{"epsilon internal": "50"})
    address = urlsplit(answer.location).path
    assert address.startswith("/proposals/")
    page = follow(root, answer)
    assert "internal to epsilon 50" in text_of(page)
    assert "Approve it now" not in page.text
    assert root.submit(f"{address}/approval").status_code == 403
    again = root.submit("/datasets/sites/budgets", **{"epsilon internal": "50"})
    assert again.location == answer.location
    assert root.submit(f"{address}/withdrawal").status_code == 303
    closed = root.submit(f"{address}/withdrawal")
    assert (closed.status_code, "withdrawn already" in text_of(closed)) == (409, True)
    assert "withdrawn" in text_of(root.get("/proposals?state=withdrawn"))
    assert root.submit("/users/ian/roles", roles="admin").status_code == 403
    for kind, name in (("queries", "visits"), ("streams", "arrivals")):
        assert "/proposals/" in root.submit(f"/{kind}/{name}/retirement", sure=name).location


def test_what_one_admin_proposed_another_approves_on_a_page(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    _, root, rita = two_admins
    root.submit("/tiers", once="1", name="partner", above="public")
    address = urlsplit(root.submit("/tiers/partner/deletion", sure="partner").location).path
    assert "partner" in text_of(root.get("/tiers"))
    assert "Approve it now" in rita.get(address).text
    page = follow(rita, rita.submit(f"{address}/approval"))
    assert "approved" in text_of(page)
    assert "partner" not in text_of(root.get("/tiers"))
    assert rita.submit(f"{address}/approval").status_code == 409


def test_an_allowance_is_proposed_on_a_page_and_given_by_another_admin(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    _, root, rita = two_admins
    page = "/datasets/sites/allowances"
    asked = {"tier": "internal", "epsilon": "0.5", "users": "ian"}
    assert "Another admin must approve this" in text_of(root.submit(page, **asked, look="1"))
    proposed = root.submit(page, **asked)
    address = urlsplit(proposed.location).path
    shown = text_of(rita.get(address))
    assert "ian" in shown
    assert "no allowance when this was proposed" in shown
    assert "No tier has an allowance" in text_of(root.get(page))
    follow(rita, rita.submit(f"{address}/approval"))
    assert "internal" in text_of(root.get(page))
    assert "taken back" in text_of(
        follow(root, root.submit(f"{page}/taking-back", once="1", back="internal"))
    )
