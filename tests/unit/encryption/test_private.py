"""Test the rules of every file that holds keys."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.forked import begun, ended_well

from penstock.encryption import KeyRing, Secrets, SecretsFile, private
from penstock.errors import KeysUnavailable

Kind = type[KeyRing] | type[Secrets]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture(params=[KeyRing, Secrets])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_missing_file_names_the_next_step(kind: Kind, path: Path) -> None:
    with pytest.raises(KeysUnavailable, match=r"keys\.json is missing.*penstock init"):
        kind.load(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o660, 0o644, 0o610, 0o601])
def test_a_file_that_others_can_use_is_refused(kind: Kind, path: Path, mode: int) -> None:
    kind.create(path)
    path.chmod(mode)
    with pytest.raises(KeysUnavailable, match=rf"mode {mode:04o}.*chmod 600"):
        kind.load(path)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_for_its_owner_alone_is_read(kind: Kind, path: Path, mode: int) -> None:
    kind.create(path)
    path.chmod(mode)
    kind.load(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(kind: Kind, path: Path) -> None:
    kind.create(path)
    os.chown(path, 65534, -1)
    with pytest.raises(KeysUnavailable, match=r"belongs to user 65534.*chown 0"):
        kind.load(path)


Use = Callable[[], object]


@pytest.fixture
def use(kind: Kind, path: Path) -> Use:
    """Return what a running server reads the file by, which it has read before."""
    kind.create(path)
    if kind is Secrets:
        secrets = SecretsFile(path)
        return lambda: secrets.now
    ring = KeyRing.load(path)
    return lambda: ring.keys_of(b"")


@pytest.mark.parametrize("mode", [0o640, 0o602])
def test_a_file_that_others_can_use_is_refused_from_the_next_use_on(
    use: Use, path: Path, mode: int
) -> None:
    use()
    status = path.stat()
    path.chmod(mode)
    # Within one tick of the file system's clock no time tells.
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    for _ in range(2):
        with pytest.raises(KeysUnavailable, match=rf"mode {mode:04o}.*chmod 600"):
            use()
    path.chmod(0o600)
    use()


def test_a_file_that_was_removed_is_refused_from_the_next_use_on(use: Use, path: Path) -> None:
    use()
    path.rename(path.with_name("moved"))
    for _ in range(2):
        with pytest.raises(KeysUnavailable, match=r"keys\.json is missing"):
            use()
    path.with_name("moved").rename(path)
    use()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_that_was_given_away_is_refused_from_the_next_use_on(use: Use, path: Path) -> None:
    use()
    os.chown(path, 65534, -1)
    with pytest.raises(KeysUnavailable, match="belongs to user 65534"):
        use()


def test_the_mode_and_the_owner_are_part_of_the_identity(kind: Kind, path: Path) -> None:
    kind.create(path)
    before = path.stat()
    path.chmod(0o400)
    after = path.stat()
    with private.opened(path) as descriptor:
        identity = private.identity(descriptor)
    assert identity == private.present_identity(path)
    assert {before.st_mode, after.st_mode}.intersection(identity) == {after.st_mode}
    assert identity[-1] == after.st_uid


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"nul"])
def test_a_file_that_is_no_json_is_refused(kind: Kind, path: Path, content: bytes) -> None:
    kind.create(path)
    path.write_bytes(content)
    with pytest.raises(KeysUnavailable, match="is not JSON"):
        kind.load(path)


def test_a_huge_file_is_refused(kind: Kind, path: Path) -> None:
    kind.create(path)
    path.write_bytes(b" " * (16 << 20) + b"{}")
    with pytest.raises(KeysUnavailable, match="longer than 16777216 bytes"):
        kind.load(path)


def test_a_folder_and_a_pipe_are_refused(kind: Kind, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (tmp_path, pipe):
        with pytest.raises(KeysUnavailable):
            kind.load(path)


def test_a_message_never_repeats_the_content(kind: Kind, path: Path) -> None:
    kind.create(path)
    path.write_text('{"pepper": "canary"')
    with pytest.raises(KeysUnavailable) as caught:
        kind.load(path)
    assert "canary" not in caught.value.detail
    assert caught.value.__cause__ is None


def test_a_file_is_private_whatever_the_umask(kind: Kind, path: Path) -> None:
    before = os.umask(0o777)
    try:
        kind.create(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_missing_folder_is_told(kind: Kind, path: Path) -> None:
    with pytest.raises(KeysUnavailable, match=r"cannot be written \(No such file.*Make its folder"):
        kind.create(path.parent / "nowhere" / "keys.json")


def test_a_file_and_its_folder_are_synced_before_it_counts(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync: Callable[[int], None] = os.fsync

    def note(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))  # noqa: PTH115 - a descriptor
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    kind.create(path)
    assert synced == [str(path), str(path.parent)]


def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = KeyRing.create(path)
    before = path.read_bytes()

    def refuse(descriptor: int) -> None:
        raise OSError(28, f"no space for {descriptor}")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(KeysUnavailable, match=r"No space left.*nothing was changed"):
        ring.renew(b"context")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert not ring.health().keys


def test_changes_of_one_file_take_turns(path: Path) -> None:
    KeyRing.create(path)
    children = [begun(lambda: KeyRing.load(path).renew(b"context")) for _ in range(6)]
    assert [ended_well(child) for child in children] == [True] * 6
    assert len(KeyRing.load(path).health().keys) == 6


def test_json_is_read_back_as_written(path: Path) -> None:
    private.create(path, {"a": [1, "é"]})
    assert private.read(path) == {"a": [1, "é"]}
