"""Test the file of a key ring: what it holds, and every file that is refused."""

import base64
import json
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
    assert found.shared() == (name,)
    assert found.drop(found.shared()) == (name,)
    assert found.drop([name]) == found.shared() == ()
    assert KeyRing.load(path).unwrap(rewrapped, CONTEXT).material == key.material


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
        (lambda content: {**content, "contexts": None}, "to which contexts"),
        (lambda content: {**content, "contexts": {"00": "00"}}, "to which contexts"),
        (lambda content: {**content, "contexts": {"00": ["00"]}}, "to which contexts"),
        (lambda content: {**content, "keys": {}}, "to which contexts"),
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
    with pytest.raises(KeysUnavailable, match=rf"{message}.*Restore the right file"):
        KeyRing.load(path)


def test_every_key_is_read_back_as_it_was_written(path: Path) -> None:
    ring = KeyRing.create(path)
    for number in range(40):
        ring.renew(b"%d" % number)
    listed = json.loads(path.read_text())
    assert len(listed["keys"]) == 40
    for name, text in listed["keys"].items():
        assert Key(base64.b64decode(text, validate=True)).id.hex() == name
    kept = {b"%d" % number: ring.wrap(Key.fresh(), b"%d" % number) for number in range(40)}
    ring.destroy(b"7")
    for context, wrapped in kept.items():
        if context != b"7":
            KeyRing.load(path).unwrap(wrapped, context)
    with pytest.raises(KeysUnavailable, match="lacks key"):
        ring.unwrap(kept[b"7"], b"7")
