"""Test tokens of an OpenID provider: which are accepted, and which are refused."""

import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.api.openid.provider import (
    AUDIENCE,
    NOW,
    Provider,
    claims,
    ec,
    part,
    rsa,
    serving,
    status,
)
from tests.api.world import START, World, parsed

from penstock.errors import InvalidInput
from penstock.openid import issuer
from penstock.openid.issuer import FRESH, PATIENCE, Issuer, Refused
from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec
from penstock.setting_sources import load

SOME_RSA, OTHER_RSA = rsa("rsa"), rsa("other")
SOME_EC = ec("ec")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as found:
        found.add("rsa", SOME_RSA)
        found.add("ec", SOME_EC)
        yield found


@pytest.fixture
def world(open_copy: Callable[..., World], provider: Provider) -> World:
    return open_copy(oidc_issuer=provider.address, oidc_audience=AUDIENCE)


def whoami(world: World, token: str) -> Any:
    answer = world.client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    return parsed(answer)


@pytest.mark.parametrize("key", ["rsa", "ec"])
def test_a_token_signed_by_a_published_key_is_its_user(
    world: World, provider: Provider, key: str
) -> None:
    found = whoami(world, provider.token(key, claims(provider, aud=["other", AUDIENCE])))
    assert (found["name"], found["roles"]) == ("root", ["admin"])


def test_a_scope_limits_the_roles_and_gives_none(world: World, provider: Provider) -> None:
    users.create(world.server, OPERATOR, UserSpec(name="both", roles=["analyst", "auditor"]))

    def roles(scope: str | None) -> list[str]:
        token = provider.token("rsa", claims(provider, sub="both", scope=scope))
        return list(whoami(world, token)["roles"])

    assert roles(None) == roles("openid email") == ["analyst", "auditor"]
    assert roles("openid penstock:auditor") == ["auditor"]
    assert roles("penstock:admin") == []
    assert roles("penstock:admin penstock:analyst") == ["analyst"]


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "another"},
        {"aud": None},
        {"aud": []},
        {"iss": "https://elsewhere.example"},
        {"iss": None},
        {"exp": NOW - 31},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": 1e300},
        {"nbf": NOW + 31},
        {"iat": NOW + 3600},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "nobody here"},
        {"sub": "ROOT"},
        {"sub": "operator"},
        {"scope": ["penstock:admin"]},
    ],
    ids=str,
)
def test_claims_that_are_not_right_are_refused(
    world: World, provider: Provider, changes: dict[str, Any]
) -> None:
    assert status(world, provider.token("rsa", claims(provider))) == 200
    found = {**claims(provider), **changes}
    found = {name: value for name, value in found.items() if value is not None}
    assert status(world, provider.token("rsa", found)) == 401


def test_a_disabled_user_is_refused(world: World, provider: Provider) -> None:
    users.create(world.server, OPERATOR, UserSpec(name="leaver", roles=["analyst"]))
    token = provider.token("rsa", claims(provider, sub="leaver"))
    assert status(world, token) == 200
    users.disable(world.server, OPERATOR, "leaver")
    assert status(world, token) == 401


def test_no_algorithm_and_no_secret_one_is_believed(world: World, provider: Provider) -> None:
    content = claims(provider)
    for algorithm in ("none", "None", "NONE"):
        head = part({"alg": algorithm, "kid": "rsa"})
        assert status(world, f"{head}.{part(content)}.") == 401
    # The public key, taken for the secret of an HMAC: in every form that it is known in.
    jwk = json.dumps(SOME_RSA.as_dict(private=False)).encode()
    for public in (SOME_RSA.as_pem(private=False), SOME_RSA.as_der(private=False), jwk):
        signed = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(content)}"
        mac = hmac.digest(public, signed.encode(), hashlib.sha256)
        forged = base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
        assert status(world, f"{signed}.{forged}") == 401


def test_a_clock_set_back_revives_no_token(world: World, provider: Provider) -> None:
    token = provider.token("rsa", claims(provider))
    assert status(world, token) == 200
    world.clock.now += timedelta(days=1)
    world.answer("POST", "/api/v1/tiers", {"name": "noted"}, by="root")
    assert status(world, token) == 401
    world.clock.now -= timedelta(days=1)
    assert status(world, token) == 401


def test_a_key_that_comes_with_the_token_is_not_believed(world: World, provider: Provider) -> None:
    own = rsa("own")
    provider.keys["own"] = own  # signs, and is not published
    for header in (
        {"jwk": own.as_dict(private=False)},
        {"jku": provider.address + "/keys"},
        {"kid": "rsa"},
        {"kid": "rsa", "jwk": own.as_dict(private=False)},
    ):
        assert status(world, provider.token("own", claims(provider), **header)) == 401


def test_weak_and_foreign_keys_are_not_taken(world: World, provider: Provider) -> None:
    with warnings.catch_warnings(action="ignore"):  # the library warns of what is meant here
        short = rsa("short", 1024)
    provider.add("short", short)
    secret = {"kty": "oct", "kid": "secret", "k": part("secret"), "alg": "HS256"}
    provider.more = [secret, {"kty": "RSA", "kid": "mute"}, {}, {"kid": 7}]
    assert status(world, provider.token("rsa", claims(provider))) == 200
    with warnings.catch_warnings(action="ignore"):
        weak = provider.token("short", claims(provider))
    assert status(world, weak) == 401


def test_keys_are_rotated_without_a_restart() -> None:
    with serving() as provider:
        provider.add("rsa", SOME_RSA)
        now = [0.0]
        issuer = Issuer(provider.address, AUDIENCE, "sub", clock=lambda: now[0])
        old = provider.token("rsa", claims(provider))
        assert issuer.identify(old, START).user == "root"
        provider.add("other", OTHER_RSA)
        now[0] += PATIENCE
        new = provider.token("other", claims(provider, sub="olga"))
        assert issuer.identify(new, START).user == "olga"
        provider.published.remove("rsa")
        assert issuer.identify(old, START).user == "root"  # known until they are read again
        now[0] += FRESH + 1
        with pytest.raises(Refused):
            issuer.identify(old, START)
        assert issuer.identify(new, START).user == "olga"


def test_made_up_keys_do_not_make_the_server_ask(world: World, provider: Provider) -> None:
    provider.keys["made up"] = OTHER_RSA
    assert status(world, provider.token("rsa", claims(provider))) == 200
    asked = provider.asked
    for number in range(5):
        forged = provider.token("made up", claims(provider), kid=f"key {number}")
        assert status(world, forged) == 401
    assert provider.asked == asked


@pytest.mark.parametrize("broken", [b"", b"[]", b"{}", b"x" * (2 << 20), b'{"issuer": 7}'])
def test_a_provider_that_does_not_answer_is_told_as_that(
    world: World, provider: Provider, broken: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer, "PATIENCE", 0.0)
    provider.broken = broken
    token = provider.token("rsa", claims(provider))
    answer = world.client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 503
    assert parsed(answer)["code"] == "IDENTITY_UNAVAILABLE"
    assert world.call("GET", "/api/v1/me", by="root").status_code == 200  # Penstock's own go on
    provider.broken = None
    assert status(world, token) == 200


def test_a_provider_that_names_another_issuer_is_not_believed(
    world: World, provider: Provider
) -> None:
    provider.issuer = "https://elsewhere.example"
    assert status(world, provider.token("rsa", claims(provider))) == 503


@pytest.mark.parametrize(
    "token", ["a.b.c", "..", "é.é.é", "a" * 20_000, f"{'a' * 9000}.{'b' * 9000}.c", "e30.e30.e30"]
)
def test_what_is_no_token_is_refused_without_asking(
    world: World, provider: Provider, token: str
) -> None:
    header = {"Authorization": f"Bearer {token}".encode().decode("latin-1")}
    assert world.client.get("/api/v1/me", headers=header).status_code == 401
    del provider


def test_nobody_is_believed_where_no_provider_is_named(
    open_copy: Callable[..., World], provider: Provider
) -> None:
    plain = open_copy()
    assert status(plain, provider.token("rsa", claims(provider))) == 401
    assert provider.asked == 0


@pytest.mark.parametrize(
    "address", ["http://elsewhere.example", "ftp://127.0.0.1", "elsewhere", ""]
)
def test_a_provider_is_reached_by_https_alone(address: str) -> None:
    with pytest.raises(InvalidInput, match="https"):
        Issuer(address, AUDIENCE, "sub")


def test_an_issuer_without_an_audience_is_refused() -> None:
    with pytest.raises(InvalidInput, match="oidc_audience"):
        load({"PENSTOCK_OIDC_ISSUER": "https://issuer.example"})


def test_a_token_that_it_makes_ends_when_it_would(world: World, provider: Provider) -> None:
    soon = NOW + 60
    answer = world.client.post(
        "/api/v1/users/root/tokens",
        json={"expires_in": "300d"},
        headers={"Authorization": f"Bearer {provider.token('rsa', claims(provider, exp=soon))}"},
    )
    made = parsed(answer)
    assert answer.status_code == 201
    assert made["expires"] == "2026-11-20T12:01:00Z"
    assert made["parent"] is None
