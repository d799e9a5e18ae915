"""Test the key ring in a file: what it does, and every file that it refuses."""

import base64
import json
import stat
from pathlib import Path

import pytest

from penstock.encryption import Key, KeyRing, wrapping_key
from penstock.errors import KeysUnavailable

CONTEXT = b"for the tests"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keyring.json"


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
    ring.drop(ring.keys_of(CONTEXT)[:-1])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert len(ring.health().keys) == 1


def test_a_ring_shows_no_key(path: Path) -> None:
    ring = KeyRing.create(path)
    ring.renew(CONTEXT)
    secret = next(iter(json.loads(path.read_text())["keys"].values()))
    assert secret not in repr(ring)
    assert repr(base64.b64decode(secret)) not in repr(ring.__dict__)
    with pytest.raises(TypeError, match="not serialized"):
        ring.__reduce__()


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


def left_over(path: Path) -> Path:
    """Return what a writer leaves who is killed before its file is put in its place."""
    left = path.with_name(f"{path.name}.4242.new")
    left.write_bytes(path.read_bytes())
    return left


@pytest.mark.parametrize("act", ["destroy", "drop", "renew"])
def test_what_a_killed_writer_left_goes_before_anything_is_forgotten(path: Path, act: str) -> None:
    """Also where there is nothing to forget: somebody may finish what was cut off."""
    ring = KeyRing.create(path)
    ring.renew(CONTEXT)
    kept = path.with_name("other.json.17.new")
    kept.touch()
    left = left_over(path)
    getattr(ring, act)(["another"] if act == "drop" else b"another context")
    assert not left.exists()
    assert kept.exists()


def test_what_a_killed_writer_left_and_cannot_be_removed_stops_a_destruction(path: Path) -> None:
    ring = KeyRing.create(path)
    ring.renew(CONTEXT)
    left = left_over(path)
    left.unlink()
    left.mkdir()
    with pytest.raises(KeysUnavailable, match=rf"{left.name} was left .* may hold keys"):
        ring.destroy(CONTEXT)
    assert len(ring.health().keys) == 1
