"""Test tokens and issuers that do what they should not.

Each is refused, and nobody waits for it.
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from joserfc import jws
from joserfc.jwk import RSAKey
from tests.api.openid.provider import AUDIENCE, Provider, claims, ec, part, rsa, serving, status
from tests.api.world import START, World

from penstock.errors import IdentityUnavailable
from penstock.openid import issuer, transport
from penstock.openid.issuer import FRESH, PATIENCE, Issuer, Refused

SOME_RSA, SOME_EC = rsa("rsa"), ec("ec")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as found:
        found.add("rsa", SOME_RSA)
        found.add("ec", SOME_EC)
        yield found


@pytest.fixture
def world(open_copy: Callable[..., World], provider: Provider) -> World:
    return open_copy(oidc_issuer=provider.address, oidc_audience=AUDIENCE)


def signed(provider: Provider, payload: bytes) -> str:
    """Sign ``payload`` as it is, under a key that is published."""
    return jws.serialize_compact({"alg": "RS256", "kid": "rsa"}, payload, provider.keys["rsa"])


def made_issuer(provider: Provider, **more: Any) -> Issuer:
    return Issuer(provider.address, AUDIENCE, "sub", **more)


ONCE = pytest.mark.only("sqlite")
"""Where no name gets as far as the database."""

HEADERS: list[object] = [
    {"alg": "RS256", "kid": "rsa", "crit": 5},
    {"alg": "RS256", "kid": "rsa", "crit": ["b64"], "b64": False},
    {"alg": "RS256", "kid": "rsa", "crit": ["unheard of"], "unheard of": 1},
    {"alg": "RS256", "kid": ["rsa"]},
    {"alg": "RS256", "kid": {"rsa": 1}},
    {"alg": "RS256", "kid": None},
    {"alg": "RS256", "kid": "../../etc/passwd"},
    {"alg": "RS256", "kid": "ec"},
    {"alg": "ES256", "kid": "rsa"},
    {"alg": "ES256", "kid": "ec"},
    {"alg": ["RS256"], "kid": "rsa"},
    {"alg": {"RS256": 1}, "kid": "rsa"},
    {"kid": "rsa"},
    [{"alg": "RS256"}],
    "RS256",
    7,
    b"[" * 6000,
    b'{"alg":"RS256","kid":"rsa","x":' + b"[" * 150 + b"]" * 150 + b"}",
    b'{"alg":"RS256","kid":"rsa","x":' + b"9" * 6000 + b"}",
]


@ONCE
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: repr(header)[:50])
def test_headers_that_are_none_are_refused(
    world: World, provider: Provider, header: object
) -> None:
    assert status(world, f"{part(header)}.{part(claims(provider))}.{part(bytes(64))}") == 401


@ONCE
@pytest.mark.parametrize(
    "payload", [b"[" * 5000, b"[]", b"7", b"\xff", b'{"exp":' + b"9" * 5000 + b"}"]
)
def test_signed_claims_that_are_none_are_refused(
    world: World, provider: Provider, payload: bytes
) -> None:
    assert status(world, signed(provider, payload)) == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": {AUDIENCE: 1}},
        {"aud": [[AUDIENCE]]},
        {"aud": AUDIENCE + "/"},
        {"aud": AUDIENCE.upper()},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": True},
        {"nbf": float("nan")},
        {"sub": "\ud800"},
        {"sub": "root\0"},
        {"sub": "root\n"},
        {"sub": " root"},
        {"sub": "ｒｏｏｔ"},  # of full width, and only alike
        {"sub": "x" * 5000},
        {"sub": ["root"]},
    ],
    ids=lambda changes: ascii(changes)[:40],
)
def test_claims_are_taken_to_the_letter(
    world: World, provider: Provider, changes: dict[str, Any]
) -> None:
    assert status(world, signed(provider, json.dumps(claims(provider)).encode())) == 200
    assert status(world, signed(provider, json.dumps(claims(provider, **changes)).encode())) == 401


@ONCE
def test_the_issuer_is_taken_to_the_letter(world: World, provider: Provider) -> None:
    for other in (provider.address + "/", provider.address.upper(), [provider.address]):
        assert status(world, provider.token("rsa", claims(provider, iss=other))) == 401


def test_of_a_claim_that_stands_twice_the_last_counts(provider: Provider) -> None:
    """As RFC 7519, section 4, has it; only the issuer could write it."""
    payload = json.dumps(claims(provider)).encode()
    twice = b'{"sub":"olga","exp":1,' + payload[1:]
    assert made_issuer(provider).identify(signed(provider, twice), START).user == "root"


@ONCE
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (None, 200),
        ("JWT", 200),
        ("at+jwt", 200),
        ("application/at+JWT", 200),
        ("logout+jwt", 401),
        ("dpop+jwt", 401),
        ("", 401),
    ],
)
def test_only_what_signs_somebody_in_does(
    world: World, provider: Provider, said: str | None, answer: int
) -> None:
    more = {} if said is None else {"typ": said}
    assert status(world, provider.token("rsa", claims(provider), **more)) == answer


@ONCE
def test_a_signature_in_another_form_is_none(world: World, provider: Provider) -> None:
    text = f"{part({'alg': 'ES256', 'kid': 'ec'})}.{part(claims(provider))}"
    assert SOME_EC.private_key is not None
    der = SOME_EC.private_key.sign(text.encode(), ECDSA(hashes.SHA256()))
    assert status(world, f"{text}.{part(der)}") == 401
    assert status(world, provider.token("ec", claims(provider))) == 200


@ONCE
@pytest.mark.parametrize(
    "limit", [{"use": "enc"}, {"alg": "RS512"}, {"alg": "PS256"}, {"key_ops": ["encrypt"]}], ids=str
)
def test_a_key_for_something_else_signs_nobody_in(
    world: World, provider: Provider, limit: dict[str, Any]
) -> None:
    whole = rsa("other")
    provider.keys["other"] = whole  # signs
    shown = {**whole.as_dict(private=False), **limit}
    provider.more = [{name: part for name, part in shown.items() if name != "key_ops"} | limit]
    assert status(world, provider.token("other", claims(provider))) == 401
    assert status(world, provider.token("rsa", claims(provider))) == 200


@ONCE
def test_a_key_on_another_curve_signs_nobody_in(world: World, provider: Provider) -> None:
    provider.add("wide", ec("wide", "P-384"))
    text = f"{part({'alg': 'ES256', 'kid': 'wide'})}.{part(claims(provider))}"
    assert status(world, f"{text}.{part(bytes(64))}") == 401


@ONCE
@pytest.mark.parametrize(
    "broken",
    [
        {"kty": "RSA", "kid": "x", "n": "A" * 400, "e": "AQAB"},
        {"kty": "RSA", "kid": "x", "n": [1], "e": "AQAB"},
        {"kty": "EC", "crv": "P-256", "kid": "x", "x": "AA", "y": "AA"},
        {**SOME_RSA.as_dict(private=False), "kid": "x", "alg": ["RS256"]},
        {**SOME_RSA.as_dict(private=False), "kid": ["x"]},
        {"kty": "LATER", "kid": "x"},
    ],
)
def test_a_published_key_that_cannot_be_read_takes_nothing_from_the_others(
    world: World, provider: Provider, broken: dict[str, Any]
) -> None:
    provider.more = [broken]
    assert status(world, provider.token("rsa", claims(provider))) == 200


@contextmanager
def answering(*parts: bytes, pause: float = 0.0) -> Iterator[str]:
    """Yield the address of something that answers everybody with these bytes."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    for part in parts:
                        try:
                            connection.sendall(part)
                        except OSError:
                            break
                        if pause and done.wait(pause):
                            break

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            done.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@ONCE
@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 twohundred OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n{}",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n",
        b"HTTP/1.1 307 Elsewhere\r\nLocation: file:///etc/passwd\r\n\r\n",
        b"HTTP/1.1 500 No\r\n\r\n{}",
    ],
)
def test_an_answer_that_is_none_is_told_as_that(
    open_copy: Callable[..., World], provider: Provider, answer: bytes
) -> None:
    with answering(answer) as address:
        world = open_copy(oidc_issuer=address, oidc_audience=AUDIENCE)
        assert status(world, provider.token("rsa", claims(provider, iss=address))) == 503
        assert world.call("GET", "/api/v1/me", by="root").status_code == 200


def test_an_issuer_that_sends_elsewhere_is_not_followed(provider: Provider) -> None:
    """Not even to where a good answer is: it could lead to anything that the server reaches."""
    good = provider.address + "/keys"
    assert json.loads(transport.fetched(good))["keys"]
    asked = provider.asked
    moved = f"HTTP/1.1 302 Found\r\nLocation: {good}\r\n\r\n".encode()
    with answering(moved) as address, pytest.raises(OSError, match="HTTPError"):
        transport.fetched(address)
    assert provider.asked == asked


def test_an_issuer_that_drips_is_not_waited_for(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    drops = (b"HTTP/1.1 200 OK\r\n\r\n", *[b" "] * 300, b"{}")
    with answering(*drops, pause=0.1) as address, monkeypatch.context() as hasty:
        hasty.setattr(transport, "_DEADLINE", 0.2)
        with pytest.raises(OSError, match="did not arrive within"):
            transport.fetched(address)
    assert json.loads(transport.fetched(provider.address + "/keys"))["keys"]


def test_an_issuer_that_is_down_is_asked_once_in_a_while(provider: Provider) -> None:
    now, asked = [0.0], [0]

    def down(address: str) -> bytes:
        asked[0] += 1
        raise OSError(address)

    found = made_issuer(provider, fetch=down, clock=lambda: now[0])
    token = provider.token("rsa", claims(provider))
    for _ in range(5):
        with pytest.raises(IdentityUnavailable):
            found.identify(token, START)
    assert asked == [1]
    now[0] += PATIENCE
    with pytest.raises(IdentityUnavailable):
        found.identify(token, START)
    assert asked == [2]


def test_nobody_whose_key_is_known_waits_for_the_issuer(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made-up keys and a slow issuer must not hold up all who sign in."""
    monkeypatch.setattr(issuer, "_TURN", 0.05)
    now, slow = [0.0], threading.Event()
    entered, going_on = threading.Event(), threading.Event()

    def fetch(address: str) -> bytes:
        if slow.is_set():
            entered.set()
            assert going_on.wait(600)
        return transport.fetched(address)

    found = made_issuer(provider, fetch=fetch, clock=lambda: now[0])
    known = provider.token("rsa", claims(provider))
    assert found.identify(known, START).user == "root"
    provider.keys["made up"] = RSAKey.generate_key(2048, parameters={"kid": "made up"})
    made_up = provider.token("made up", claims(provider))
    now[0] += PATIENCE + 1
    slow.set()
    told: list[str] = []

    def identify(token: str) -> None:
        try:
            told.append(found.identify(token, START).user)
        except (Refused, IdentityUnavailable) as refusal:
            told.append(type(refusal).__name__)

    first = threading.Thread(target=identify, args=(made_up,))
    first.start()
    assert entered.wait(600)
    others = [threading.Thread(target=identify, args=(token,)) for token in (known, made_up)]
    for other in others:
        other.start()
    for other in others:
        other.join(600)
    waiting = sorted(told)
    going_on.set()
    first.join()
    assert waiting == ["IdentityUnavailable", "root"]
    assert sorted(told) == ["IdentityUnavailable", "Refused", "root"]
    assert now[0] < FRESH
