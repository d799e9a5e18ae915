"""Test the pages on which people are invited, and on which they accept."""

import re

import pytest
from tests.web.world import Browser, Open, text_of

pytestmark = pytest.mark.only("sqlite")

LINK = re.compile(r"http[^ <]*/invitation#pin_\w{8}_[\w-]{43}_\w{8}")
TOKEN = re.compile(r"pst_\w{8}_[\w-]{43}_\w{8}")


def stranger(browser: Browser) -> Browser:
    """Return another browser, in which nobody is signed in."""
    return Browser(browser.world, browser.world.client.application.test_client())


def invited(browser: Browser, name: str, once: str) -> str:
    """Invite somebody to be an analyst; their link."""
    page = browser.submit("/invitations", once=once, name=name, roles=["analyst"])
    match = LINK.search(page.text)
    assert match is not None, text_of(page)
    return match.group()


def test_a_person_is_invited_accepts_and_signs_in(browse: Open) -> None:
    admin = browse("root")
    link = invited(admin, "lea", "a1")
    again = admin.submit("/invitations", once="a1", name="lea", roles=["analyst"])
    assert again.location == "/invitations?done=invited"
    assert link.rpartition("#")[2] not in admin.get("/invitations").text
    guest = stranger(admin)
    assert "paste the link here" in text_of(guest.get("/invitation"))
    welcome = guest.send("/invitation", link=f"  {link} ")
    assert welcome.status_code == 200
    token = TOKEN.search(welcome.text)
    assert token is not None
    assert guest.send("/sign-in", token=token.group()).status_code == 303
    assert guest.get("/catalogue").status_code == 200
    late = stranger(admin).send("/invitation", link=link)
    assert (late.status_code, "counts once" in text_of(late)) == (409, True)
    assert "accepted" in text_of(admin.get("/invitations"))


def test_an_invitation_is_revoked_on_the_page(browse: Open) -> None:
    admin = browse("root")
    link = invited(admin, "max", "a2")
    name = link.rpartition("#")[2].split("_")[1]
    gone = admin.submit(f"/invitations/{name}/revocation")
    assert gone.location == "/invitations?done=revoked"
    late = stranger(admin).send("/invitation", link=link)
    assert "is revoked" in text_of(late)


def test_wrong_links_are_counted_by_address_and_other_sites_send_none(browse: Open) -> None:
    guest = stranger(browse("root"))
    assert guest.send("/invitation", origin="https://evil.example", link="x").status_code == 403
    limit = guest.world.server.settings.failed_sign_ins
    states = [guest.send("/invitation", link="x").status_code for _ in range(limit + 1)]
    assert states == [401] * limit + [429]
