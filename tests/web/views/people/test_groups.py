"""Test the page on which admins map groups of the provider."""

import pytest
from tests.api.openid.provider import Provider
from tests.web.sign_on.coming_back import Trusting, through
from tests.web.world import Browser, Open, text_of

from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.sign_on import mappings

pytestmark = pytest.mark.only("sqlite")


def test_admins_map_groups_on_a_page(trusting: Trusting, provider: Provider) -> None:
    browser = trusting(oidc_groups_claim="groups")
    browser.sign_in("root")
    sent = {"group": "/staff/Größe", "roles": ["analyst"], "tier": "internal"}
    assert browser.submit("/groups", **sent).location == "/groups?done=mapped"
    page = browser.get("/groups")
    assert "/staff/Größe" in page.text
    assert (
        through(
            Browser(browser.world, browser.world.client.application.test_client()),
            provider,
            "ian",
            groups=["/staff/Größe"],
        ).status_code
        == 200
    )
    item = mappings.listing(browser.world.server, OPERATOR, Window()).items[0]
    assert browser.submit(f"/groups/{item.id}/removal").location == "/groups?done=removed"
    assert "No group is mapped" in text_of(browser.get("/groups"))
    nothing = browser.submit("/groups", group="x")
    assert nothing.status_code == 422
    assert "Choose a role, a tier, or both." in text_of(nothing)


def test_the_page_says_what_is_missing(browse: Open, trusting: Trusting) -> None:
    assert "has no identity provider" in text_of(browse("root").get("/groups"))
    browser = trusting()
    browser.sign_in("olga")
    assert "Groups do not count" in text_of(browser.get("/groups"))
    assert "Map a group" not in browser.get("/groups").text
