"""Test what is sent about users, tokens and tiers; names are parts of a path, whatever they are."""

from collections.abc import Callable
from typing import Any

from tests.client.admin.conftest import INVITATION, TIER, TOKEN_SHOWN, USER, Desk

from penstock_client import Admin


def test_users(at: Callable[[Desk], Admin]) -> None:
    desk = Desk(USER)
    admin = at(desk)
    admin.create_user("e/ve", ("analyst",), clearance="public")
    admin.set_clearance("e/ve", None)
    admin.set_roles("e/ve", ("admin",))
    admin.disable_user("e/ve")
    assert desk.sent == [
        ("POST", "/users", {"name": "e/ve", "roles": ["analyst"], "clearance": "public"}),
        ("PATCH", "/users/e%2Fve", {"clearance": None}),
        ("PATCH", "/users/e%2Fve", {"roles": ["admin"]}),
        ("DELETE", "/users/e%2Fve", None),
    ]


def test_tokens(at: Callable[[Desk], Admin]) -> None:
    desk = Desk({**TOKEN_SHOWN, "token": "secret"})
    admin = at(desk)
    assert "secret" not in repr(admin.issue_token("e/ve"))
    admin.issue_token("e/ve", expires_in="30d", scopes=("read",))
    admin.revoke_token("e/ve", "pst_ab")
    bodies: list[Any] = [body for _, _, body in desk.sent]
    assert bodies == [{}, {"expires_in": "30d", "scopes": ["read"]}, None]
    assert {path for _, path, _ in desk.sent[:2]} == {"/users/e%2Fve/tokens"}


def test_invitations(at: Callable[[Desk], Admin]) -> None:
    desk = Desk({**INVITATION, "link": "secret"})
    admin = at(desk)
    assert "secret" not in repr(admin.invite("lea", ("analyst",)))
    admin.invite("lea", ("analyst",), "public", expires_in="2d")
    assert "secret" not in repr(admin.revoke_invitation("k/3"))
    plain = {"name": "lea", "roles": ["analyst"], "clearance": None}
    assert desk.sent == [
        ("POST", "/invitations", plain),
        ("POST", "/invitations", {**plain, "clearance": "public", "expires_in": "2d"}),
        ("DELETE", "/invitations/k%2F3", None),
    ]


def test_tiers(at: Callable[[Desk], Admin]) -> None:
    desk = Desk(TIER)
    admin = at(desk)
    admin.create_tier("a b", above="public")
    admin.change_tier("a b", rank=3)
    admin.delete_tier("a b")
    assert desk.sent == [
        ("POST", "/tiers", {"name": "a b", "description": "", "above": "public"}),
        ("PATCH", "/tiers/a%20b", {"rank": 3}),
        ("DELETE", "/tiers/a%20b", None),
    ]
