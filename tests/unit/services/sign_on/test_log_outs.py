"""Test which sessions end when the provider says that its own ended."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.api.openid.provider import Provider, rsa, serving
from tests.unit.services.sign_on.trusted import trusting
from tests.unit.worlds import World

from penstock.errors import MalformedInput, NotAuthenticated, NotFound
from penstock.openid.issuer import Issuer
from penstock.openid.relying_party import LOGOUT_EVENT, Registration, RelyingParty
from penstock.services.access import sessions
from penstock.services.context import Server
from penstock.services.sign_on import flow, log_outs

KEY = rsa("rsa")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as made:
        made.add("rsa", KEY)
        yield made


@pytest.fixture
def server(world: World, provider: Provider) -> Server:
    """Return a server that trusts the provider."""
    registration = Registration("pages", "", "https://here/return", "openid", "sub", "groups")
    party = RelyingParty(Issuer(provider.address, "api", "sub"), registration)
    return replace(trusting(world.server, oidc_issuer=provider.address), relying_party=party)


def begun(world: World, provider: Provider, name: str, session: str | None = None) -> str:
    """Begin a session of somebody who signed in at the provider; its secret."""
    issuer = provider.address
    there = flow.digest(issuer, session) if session else None
    person = world.person(name)
    return sessions.begin(
        world.server, person, "", subject=flow.digest(issuer, name), provider_session=there
    ).secret


def alive(world: World, *secrets: str) -> list[bool]:
    states = []
    for secret in secrets:
        try:
            sessions.resume(world.server, secret)
            states.append(True)
        except NotAuthenticated:
            states.append(False)
    return states


def said(world: World, provider: Provider, name: str = "n1", **changes: Any) -> str:
    """Return a logout token with these claims changed; None leaves one out."""
    now = int(world.clock().timestamp())
    usual = {
        "iss": provider.address,
        "aud": "pages",
        "iat": now,
        "exp": now + 120,
        "jti": name,
        "sub": "pia",
        "events": {LOGOUT_EVENT: {}},
    }
    claims = {key: value for key, value in {**usual, **changes}.items() if value is not None}
    return provider.token("rsa", claims, typ="logout+jwt")


def test_all_sessions_of_an_account_end_or_the_one_that_is_named(
    world: World, server: Server, provider: Provider
) -> None:
    first, second = (begun(world, provider, "pia", session) for session in ("s1", "s2"))
    nameless, other = begun(world, provider, "pia"), begun(world, provider, "ines", "s3")
    log_outs.end(server, said(world, provider, "n1", sid="s1"))
    assert alive(world, first, second, nameless, other) == [False, True, False, True]
    log_outs.end(server, said(world, provider, "n2", sub=None, sid="s3"))
    assert alive(world, second, other) == [True, False]
    log_outs.end(server, said(world, provider, "n3"))
    assert alive(world, second) == [False]
    log_outs.end(server, said(world, provider, "n4", sub="nobody"))


def test_a_notice_counts_once(world: World, server: Server, provider: Provider) -> None:
    token = said(world, provider)
    log_outs.end(server, token)
    again = begun(world, provider, "pia")
    with pytest.raises(MalformedInput):
        log_outs.end(server, token)
    with pytest.raises(MalformedInput):
        log_outs.end(server, said(world, provider, sid="s1"))
    assert alive(world, again) == [True]
    world.clock.forward(minutes=3)
    with pytest.raises(MalformedInput):
        log_outs.end(server, token)


def test_no_other_token_ends_a_session(world: World, server: Server, provider: Provider) -> None:
    secret = begun(world, provider, "pia", "s1")
    now = int(world.clock().timestamp())
    wrong: list[dict[str, Any]] = [
        {"nonce": "x"},
        {"events": None},
        {"events": {}},
        {"events": [LOGOUT_EVENT]},
        {"events": {LOGOUT_EVENT: 1}},
        {"events": {LOGOUT_EVENT + "/": {}}},
        {"sub": None},
        {"sub": 7},
        {"sid": ["s1"]},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
        {"iat": None},
        {"iat": now + 600},
        {"exp": now - 60},
        {"exp": now + 100_000},
        {"exp": 10**30},
        {"aud": "api"},
        {"iss": "https://other.example.org"},
    ]
    for changes in wrong:
        with pytest.raises(MalformedInput):
            log_outs.end(server, said(world, provider, **changes))
    for token in ("", "a.b.c", said(world, provider)[:-4] + "AAAA"):
        with pytest.raises(MalformedInput):
            log_outs.end(server, token)
    typed = provider.token("rsa", {}, typ="dpop+jwt")
    with pytest.raises(MalformedInput):
        log_outs.end(server, typed)
    assert alive(world, secret) == [True]
    with pytest.raises(NotFound):
        log_outs.end(world.server, said(world, provider))
