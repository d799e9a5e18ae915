"""The key ring in a file: what it does, and every file that it refuses."""

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.encryption import Key, KeyProvider, KeyRing
from penstock.errors import Conflict, IntegrityViolation, KeysUnavailable, NotFound

CONTEXT = b"for the tests"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keyring.json"


def rewrite(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps(change(content)))


def test_a_new_ring_is_private_and_can_be_loaded(path: Path) -> None:
    ring = KeyRing.create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    key = Key.fresh()
    wrapped = ring.wrap(key, CONTEXT)
    assert KeyRing.load(path).unwrap(wrapped, CONTEXT).material == key.material


def test_a_ring_is_a_provider(path: Path) -> None:
    provider: KeyProvider = KeyRing.create(path)
    health = provider.health()
    assert health.provider == "keyring"
    assert health.keys == (health.primary,)


def test_a_ring_that_exists_is_never_overwritten(path: Path) -> None:
    KeyRing.create(path)
    before = path.read_bytes()
    with pytest.raises(KeysUnavailable, match=r"exists already.*safe place"):
        KeyRing.create(path)
    assert path.read_bytes() == before


def test_a_key_unwraps_in_its_context_only(path: Path) -> None:
    ring = KeyRing.create(path)
    wrapped = ring.wrap(Key.fresh(), CONTEXT)
    with pytest.raises(IntegrityViolation):
        ring.unwrap(wrapped, b"for something else")
    with pytest.raises(IntegrityViolation):
        ring.unwrap(wrapped[:-1] + bytes([wrapped[-1] ^ 1]), CONTEXT)


def test_a_key_of_another_ring_is_named(path: Path) -> None:
    other = KeyRing.create(path.with_name("other.json"))
    ring = KeyRing.create(path)
    with pytest.raises(KeysUnavailable, match=f"lacks key {other.health().primary}"):
        ring.unwrap(other.wrap(Key.fresh(), CONTEXT), CONTEXT)


def test_keys_rotate_while_servers_run(path: Path) -> None:
    operator, server = KeyRing.create(path), KeyRing.load(path)
    old = operator.health().primary
    key = Key.fresh()
    wrapped = server.wrap(key, CONTEXT)
    new = operator.add()
    assert server.rewrap(wrapped, CONTEXT) is wrapped  # not yet primary
    operator.make_primary(new)
    assert server.unwrap(operator.wrap(key, CONTEXT), CONTEXT).material == key.material
    rewrapped = server.rewrap(wrapped, CONTEXT)
    assert rewrapped != wrapped
    operator.drop(old)
    assert server.unwrap(rewrapped, CONTEXT).material == key.material
    assert server.health().keys == (new,)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(KeysUnavailable, match=f"lacks key {old}"):
        server.unwrap(wrapped, CONTEXT)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_server_wraps_under_the_primary_key_of_now(path: Path) -> None:
    operator, server = KeyRing.create(path), KeyRing.load(path)
    old = operator.health().primary
    operator.make_primary(operator.add())
    wrapped = server.wrap(Key.fresh(), CONTEXT)
    operator.drop(old)
    KeyRing.load(path).unwrap(wrapped, CONTEXT)


def test_the_primary_key_is_not_dropped(path: Path) -> None:
    ring = KeyRing.create(path)
    with pytest.raises(Conflict, match="make another primary first"):
        ring.drop(ring.health().primary)


def test_an_unknown_key_is_neither_dropped_nor_made_primary(path: Path) -> None:
    ring = KeyRing.create(path)
    for act in (ring.drop, ring.make_primary):
        with pytest.raises(NotFound, match="has no key 00"):
            act("00")


def test_a_ring_shows_no_key(path: Path) -> None:
    ring = KeyRing.create(path)
    secret = next(iter(json.loads(path.read_text())["keys"].values()))
    assert secret not in repr(ring)
    assert repr(base64.b64decode(secret)) not in repr(ring.__dict__)
    with pytest.raises(TypeError, match="not serialized"):
        ring.__reduce__()


def wrong_length(content: dict[str, object]) -> object:
    return {**content, "keys": {str(content["primary"]): base64.b64encode(bytes(31)).decode()}}


def renamed(content: dict[str, object]) -> object:
    keys = content["keys"]
    assert isinstance(keys, dict)
    return {**content, "primary": "00" * 8, "keys": {"00" * 8: next(iter(keys.values()))}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "not a key ring"),
        (lambda _: "text", "not a key ring"),
        (lambda content: {**content, "format": "penstock-secrets"}, "not a key ring"),
        (lambda content: {**content, "version": 2}, "another version than 1"),
        (lambda content: {**content, "keys": []}, "does not list its keys"),
        (lambda content: {**content, "primary": None}, "does not list its keys"),
        (lambda content: {**content, "primary": "00"}, "primary key that it does not hold"),
        (lambda content: {**content, "keys": {}}, "primary key that it does not hold"),
        (lambda content: {**content, "keys": {content["primary"]: 7}}, "32 bytes in base64"),
        (lambda content: {**content, "keys": {content["primary"]: "?"}}, "32 bytes in base64"),
        (lambda content: {**content, "keys": {content["primary"]: "é"}}, "32 bytes in base64"),
        (wrong_length, "32 bytes in base64"),
        (renamed, "under the name of another"),
    ],
)
def test_a_malformed_ring_is_refused(
    path: Path, change: Callable[[dict[str, object]], object], message: str
) -> None:
    KeyRing.create(path)
    rewrite(path, change)
    with pytest.raises(KeysUnavailable, match=rf"{message}.*Put back the right file"):
        KeyRing.load(path)


def test_a_running_server_refuses_a_ring_that_went_bad(path: Path) -> None:
    ring = KeyRing.create(path)
    path.unlink()
    for act in (ring.health, lambda: ring.wrap(Key.fresh(), CONTEXT), ring.add):
        with pytest.raises(KeysUnavailable, match="is missing"):
            act()
