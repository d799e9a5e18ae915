"""Test backups from before keys were rotated, and what is known of one before it is put back."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.databases.homes import Homes
from tests.unit.services.operations.copies.restoring import restored
from tests.unit.worlds import World

from penstock.encryption import Secrets
from penstock.errors import Conflict, InvalidInput, Unavailable
from penstock.persistence.backups import copy as copies
from penstock.persistence.backups import sqlite_copy
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import backup, home, key_rotation, retired_keys
from penstock.services.operations.backup_check import BackupCheckView

pytestmark = pytest.mark.each_database


def drop(world: World, *kept: Path) -> None:
    found = retired_keys.droppable(world.server, OPERATOR, (), kept)
    retired_keys.drop(world.server, OPERATOR, found, lambda: None)


def check(world: World, path: str) -> BackupCheckView:
    return backup.check(world.server.settings, Path(path))


def test_a_backup_from_before_a_rotation_is_put_back_and_read_as_it_was(
    visits: World, homes: Homes, tmp_path: Path
) -> None:
    first = {name: visits.ask(name).view for name in ("pia", "paul", "ines")}
    made = backup.create(visits.server.settings, tmp_path / "copy")
    for _ in range(2):
        key_rotation.rotate(visits.server, OPERATOR)
    found = check(visits, made.path)
    assert found.opens, found
    assert [(one.dataset, one.version) for one in found.keys] == [("sites", 1), (None, None)]
    target = restored(made, homes, tmp_path / "elsewhere", visits.server.settings.keys_path)
    server = home.open_server(target.settings(), clock=visits.clock, randomness=visits.streams)
    copy = World(server, visits.clock, visits.streams)
    for name, view in first.items():
        again = copy.ask(name).view
        assert (again.values == view.values).all()
        assert asdict(again.receipt) == asdict(view.receipt)
    server.database.close()


def test_a_backup_that_does_not_open_any_more_is_known_before_it_is_put_back(
    visits: World, tmp_path: Path
) -> None:
    """No database is opened for it: there may be none."""
    old = backup.create(visits.server.settings, tmp_path / "old").path
    key_rotation.rotate(visits.server, OPERATOR)
    new = backup.create(visits.server.settings, tmp_path / "new").path
    key_rotation.rotate(visits.server, OPERATOR)
    drop(visits, Path(old), Path(new))
    assert check(visits, old).opens
    drop(visits, Path(new))
    assert check(visits, new).opens
    visits.server.database.close()
    found = check(visits, old)
    assert not found.opens
    assert [one.problem for one in found.keys] == ["not there", "not there"]
    Path(found.path + ".keys.json").unlink()
    again = check(visits, old)
    assert (again.keys, again.problems) == (found.keys, [])


def test_a_shredded_dataset_is_in_no_backup_again_though_keys_are_kept(
    visits: World, tmp_path: Path
) -> None:
    made = backup.create(visits.server.settings, tmp_path / "copy")
    key_rotation.rotate(visits.server, OPERATOR)
    key_rotation.shred(visits.server, OPERATOR, "sites")
    problems = {one.dataset: one.problem for one in check(visits, made.path).keys}
    assert problems == {"sites": "not there", None: None}


@pytest.mark.parametrize("fault", ["file", "manifest", "mac"])
def test_a_backup_that_is_not_what_its_manifest_says_is_told(
    visits: World, tmp_path: Path, fault: str
) -> None:
    made = backup.create(visits.server.settings, tmp_path / "copy")
    manifest = Path(made.manifest)
    said = json.loads(manifest.read_text())
    assert check(visits, made.path).manifest == "authentic, and of this file"
    if fault == "file":
        visits.push("more", share=0.01, levels=None)
        Path(made.path).unlink()
        manifest.rename(tmp_path / "kept")
        backup.create(visits.server.settings, tmp_path / "copy")
        (tmp_path / "kept").rename(manifest)
    elif fault == "manifest":
        manifest.write_text(json.dumps({**said, "keys": []}))
    else:
        manifest.write_text(json.dumps({**said, "hmac": "00" * 32}))
    found = check(visits, made.path)
    assert not found.opens
    assert len(found.problems) == 1


def test_secrets_of_another_home_are_told(visits: World, tmp_path: Path) -> None:
    made = backup.create(visits.server.settings, tmp_path / "copy")
    secrets = visits.server.settings.keys_path / home.SECRETS
    secrets.unlink()
    Secrets.create(secrets)
    assert "secrets.json" in check(visits, made.path).problems[0]


def test_what_is_no_backup_is_refused(visits: World, tmp_path: Path) -> None:
    made = Path(backup.create(visits.server.settings, tmp_path / "copy").path)
    (tmp_path / "text").write_text("no backup")
    torn = tmp_path / "torn"
    torn.write_bytes(made.read_bytes()[: made.stat().st_size // 2])
    for path in (tmp_path / "text", torn):
        with pytest.raises(InvalidInput, match="penstock backup"):
            check(visits, str(path))
    with pytest.raises(Unavailable, match="cannot be read"):
        check(visits, str(tmp_path / "absent"))


@pytest.mark.only("sqlite")
def test_what_a_killed_backup_left_is_not_taken_for_one(
    visits: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    whole = sqlite_copy.written

    def noted(source: Path, path: Path) -> None:
        whole(source, path)
        seen.append(path.name)
        assert not (tmp_path / "copy").exists()
        with pytest.raises(Conflict, match="being written"):
            copies.back_up(visits.server.settings.resolved_migration_url, tmp_path / "copy")

    (tmp_path / "copy.part").write_bytes(os.urandom(100_000))
    monkeypatch.setattr(sqlite_copy, "written", noted)
    backup.create(visits.server.settings, tmp_path / "copy")
    assert seen == ["copy.part"]
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy", "copy.keys.json"]
