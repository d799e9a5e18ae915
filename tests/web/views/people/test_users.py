"""Test users by form: added, given roles and tokens, disabled."""

import re

from tests.api.world import World
from tests.web.views.people.acting import follow, once
from tests.web.world import Browser, text_of


def test_a_token_is_shown_once_and_issued_once(root: Browser, world: World) -> None:
    key = once(root, "/users/ian")
    shown = root.submit("/users/ian/tokens", once=key, expires_in="1d")
    assert shown.headers["Cache-Control"] == "no-store"
    token = re.search(r"pst_[\w-]+", shown.text)
    assert token is not None
    world.tokens["new"] = token.group()
    assert world.answer("GET", "/api/v1/me", by="new")["name"] == "ian"
    repeat = follow(root, root.submit("/users/ian/tokens", once=key, expires_in="1d"))
    assert token.group() not in repeat.text
    assert "shown only once" in text_of(repeat)
    tokens = world.answer("GET", "/api/v1/users/ian/tokens", by="root")["items"]
    assert len(tokens) == 2
    revoked = root.submit(f"/users/ian/tokens/{tokens[-1]['prefix']}/revocation")
    assert "The token is revoked" in text_of(follow(root, revoked))
    assert world.call("GET", "/api/v1/me", by="new").status_code == 401


def test_people_are_added_given_roles_and_shut_out(root: Browser, world: World) -> None:
    fields = {"once": once(root, "/users"), "name": "eve", "roles": "analyst"}
    page = follow(root, root.submit("/users", **fields, clearance="public"))
    assert "The user is added" in text_of(page)
    taken = root.submit("/users", once=once(root, "/users"), name="Eve", roles="auditor")
    assert (taken.status_code, 'value="Eve"' in taken.text) == (409, True)
    nobody = root.submit("/users", once=once(root, "/users"), name="")
    assert nobody.status_code == 422
    assert root.submit("/users/eve/roles", roles="auditor").status_code == 303
    assert world.answer("GET", "/api/v1/users/eve", by="root")["roles"] == ["auditor"]
    assert root.submit("/users/eve/disabling", sure="eve").status_code == 303
    assert not world.answer("GET", "/api/v1/users/eve", by="root")["active"]
    last = root.submit("/users/root/disabling", sure="root")
    assert last.status_code == 409
    assert "only admin" in text_of(last)


def test_a_user_page_reports_only_known_deeds(root: Browser) -> None:
    assert "The user is disabled" in text_of(root.get("/users/ian?done=disabled"))
    assert 'role="status"' not in root.get("/users/ian?done=made-up").text
    assert root.get("/users/absent").status_code == 404


def test_the_only_admin_cannot_take_their_own_role(root: Browser, world: World) -> None:
    refused = root.submit("/users/root/roles", roles="auditor")
    assert refused.status_code == 409
    assert "admin" in world.answer("GET", "/api/v1/users/root", by="root")["roles"]
