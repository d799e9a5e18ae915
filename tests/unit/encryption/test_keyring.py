"""The key ring in a file: what it does, and every file that it refuses."""

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.encryption import Key, KeyRing, RowIdentity, private, seal, wrapping_key
from penstock.errors import KeysUnavailable

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


def test_a_ring_that_exists_is_never_overwritten(path: Path) -> None:
    KeyRing.create(path)
    before = path.read_bytes()
    with pytest.raises(KeysUnavailable, match=r"exists already.*safe place"):
        KeyRing.create(path)
    assert path.read_bytes() == before


def test_a_key_of_another_ring_is_named(path: Path) -> None:
    other = KeyRing.create(path.with_name("other.json"))
    ring = KeyRing.create(path)
    wrapped = other.wrap(Key.fresh(), CONTEXT)
    with pytest.raises(KeysUnavailable, match=f"lacks key {wrapping_key(wrapped)}"):
        ring.unwrap(wrapped, CONTEXT)


def test_a_rotation_leaves_one_private_file(path: Path) -> None:
    ring = KeyRing.create(path)
    wrapped = ring.wrap(Key.fresh(), CONTEXT)
    ring.renew(CONTEXT)
    ring.rewrap(wrapped, CONTEXT)
    ring.drop_old(CONTEXT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert len(ring.health().keys) == 1


def test_the_file_does_not_say_what_its_keys_are_for(path: Path) -> None:
    KeyRing.create(path).wrap(Key.fresh(), CONTEXT)
    assert CONTEXT.decode() not in path.read_text()


def test_a_ring_of_version_1_is_read_and_rotates_to_keys_for_each_context(path: Path) -> None:
    shared, key = Key.fresh(), Key.fresh()
    name = shared.id.hex()
    keys = {name: base64.b64encode(shared.material).decode()}
    ring = {"format": "penstock-keyring", "version": 1, "primary": name, "keys": keys}
    private.create(path, ring)
    identity = RowIdentity(table="key", dataset=CONTEXT.hex(), length=1, type="kek")
    wrapped = seal(shared, key.material, identity)
    found = KeyRing.load(path)
    assert found.unwrap(wrapped, CONTEXT).material == key.material
    rewrapped = found.rewrap(wrapped, CONTEXT)
    assert wrapping_key(rewrapped) != name
    assert found.drop_shared() == (name,)
    assert found.drop_shared() == ()
    assert KeyRing.load(path).unwrap(rewrapped, CONTEXT).material == key.material


def test_a_ring_shows_no_key(path: Path) -> None:
    ring = KeyRing.create(path)
    ring.renew(CONTEXT)
    secret = next(iter(json.loads(path.read_text())["keys"].values()))
    assert secret not in repr(ring)
    assert repr(base64.b64decode(secret)) not in repr(ring.__dict__)
    with pytest.raises(TypeError, match="not serialized"):
        ring.__reduce__()


def name_in(content: dict[str, object]) -> str:
    keys = content["keys"]
    assert isinstance(keys, dict)
    return str(next(iter(keys)))


def wrong_length(content: dict[str, object]) -> object:
    return {**content, "keys": {name_in(content): base64.b64encode(bytes(31)).decode()}}


def renamed(content: dict[str, object]) -> object:
    keys = content["keys"]
    assert isinstance(keys, dict)
    return {**content, "keys": {"00" * 8: next(iter(keys.values()))}, "contexts": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "not a key ring"),
        (lambda _: "text", "not a key ring"),
        (lambda content: {**content, "format": "penstock-secrets"}, "not a key ring"),
        (lambda content: {**content, "version": 3}, "another version than 2"),
        (lambda content: {**content, "keys": []}, "does not list its keys"),
        (lambda content: {**content, "contexts": None}, "which of its keys are whose"),
        (lambda content: {**content, "contexts": {"00": "00"}}, "which of its keys are whose"),
        (lambda content: {**content, "contexts": {"00": ["00"]}}, "which of its keys are whose"),
        (lambda content: {**content, "keys": {}}, "which of its keys are whose"),
        (lambda content: {**content, "keys": {name_in(content): 7}}, "32 bytes in base64"),
        (lambda content: {**content, "keys": {name_in(content): "?"}}, "32 bytes in base64"),
        (lambda content: {**content, "keys": {name_in(content): "é"}}, "32 bytes in base64"),
        (wrong_length, "32 bytes in base64"),
        (renamed, "under the name of another"),
    ],
)
def test_a_malformed_ring_is_refused(
    path: Path, change: Callable[[dict[str, object]], object], message: str
) -> None:
    KeyRing.create(path).renew(CONTEXT)
    rewrite(path, change)
    with pytest.raises(KeysUnavailable, match=rf"{message}.*Put back the right file"):
        KeyRing.load(path)


def test_a_running_server_refuses_a_ring_that_went_bad(path: Path) -> None:
    ring = KeyRing.create(path)
    path.unlink()
    acts = (
        ring.health,
        lambda: ring.wrap(Key.fresh(), CONTEXT),
        lambda: ring.renew(CONTEXT),
        lambda: ring.destroy(CONTEXT),
    )
    for act in acts:
        with pytest.raises(KeysUnavailable, match="is missing"):
            act()
