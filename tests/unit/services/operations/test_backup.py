"""Test backups made while the server writes: whole, private, and read again as they were."""

import os
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest
from sqlmodel import col, func, select
from tests.databases.homes import POSTGRESQL, Homes
from tests.unit.services.operations.copies.restoring import restored
from tests.unit.worlds import World

from penstock.errors import Conflict, DatabaseUnavailable, Unavailable
from penstock.persistence.append_only import HISTORY
from penstock.persistence.backups import sqlite_copy
from penstock.persistence.tables import Charge, Grant, Leaf, Release, metadata
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.operations import backup, home

pytestmark = pytest.mark.each_database


@contextmanager
def drawing(world: World) -> Iterator[None]:
    """Let somebody draw level after level meanwhile, and at least three."""
    stop, drawn = threading.Event(), threading.Semaphore(0)

    def draw() -> None:
        step = 0
        while not stop.is_set():
            step += 1
            world.push(f"more {step}", share=0.001, levels=None)
            world.ask("ines", f"more {step}")
            drawn.release()

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        for _ in range(2):
            assert drawn.acquire(timeout=600)
        yield
        assert drawn.acquire(timeout=600)
    finally:
        stop.set()
        thread.join()


def counts(server: Server) -> dict[str, int]:
    """Return how many rows each table of history has, all in one snapshot."""
    with server.database.read() as session:
        return {
            kind.__name__: session.exec(select(func.count()).select_from(kind)).one()
            for kind in (Release, Grant, Charge, Leaf)
        }


def indices(server: Server) -> list[int | None]:
    """Return the places of all leaves in the tree, in order; None for a leaf that waits for its."""
    with server.database.read() as session:
        return list(session.exec(select(Leaf.index).order_by(col(Leaf.index))))


def test_a_backup_made_while_others_write_is_read_as_it_was(
    visits: World, homes: Homes, tmp_path: Path, backend: str
) -> None:
    first = {name: visits.ask(name).view for name in ("pia", "paul", "ines")}
    before = counts(visits.server)
    with drawing(visits):
        made = backup.create(visits.server.settings, tmp_path / "copy")
    after = counts(visits.server)
    assert made.kind == backend
    target = restored(made, homes, tmp_path / "elsewhere", visits.server.settings.keys_path)
    server = home.open_server(target.settings(), clock=visits.clock, randomness=visits.streams)
    found = counts(server)
    for name, count in found.items():
        assert before[name] <= count <= after[name], name
    assert found["Release"] >= before["Release"] + 2, "what was committed before is in it"
    taken = visits.streams.taken
    copy = World(server, visits.clock, visits.streams)
    for name, view in first.items():
        again = copy.ask(name).view
        assert (again.values == view.values).all()
        assert again.id == view.id
        assert asdict(again.receipt) == asdict(view.receipt)
    assert visits.streams.taken == taken, "nothing was drawn"
    # The backup may have come between a commit and its leaf's place in the tree; a server that
    # is older than its witness gives out no place until that is acknowledged.
    placed = [index for index in indices(server) if index is not None]
    assert placed == list(range(len(placed)))
    restores.acknowledge(server, OPERATOR)
    assert indices(server) == list(range(found["Leaf"] + 1)), "no leaf is missing"
    server.database.close()


def test_a_backup_can_be_read_by_its_owner_alone_and_has_its_manifest_beside_it(
    visits: World, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    made = backup.create(visits.server.settings, folder / "copy")
    copied, manifest = sorted(folder.iterdir())
    assert (str(copied), copied.stat().st_size) == (made.path, made.bytes)
    assert str(manifest) == made.manifest
    assert stat.S_IMODE(copied.stat().st_mode) == stat.S_IMODE(manifest.stat().st_mode) == 0o600


def test_keys_are_in_no_backup(visits: World, tmp_path: Path) -> None:
    """The files of the keys folder hold texts of 256 bits; none of them is in the copy."""
    made = backup.create(visits.server.settings, tmp_path / "copy")
    data = Path(made.path).read_bytes()
    for file in visits.server.settings.keys_path.iterdir():
        for text in file.read_text().split('"'):
            if len(text) >= 40:
                assert text.encode() not in data


def test_what_exists_is_not_written_over(visits: World, tmp_path: Path) -> None:
    (tmp_path / "copy").write_text("mine")
    with pytest.raises(Conflict, match="exists already"):
        backup.create(visits.server.settings, tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "mine"


@pytest.mark.parametrize("folder", ["keys_path", "witness_path"])
def test_a_backup_does_not_go_where_keys_or_witness_are(visits: World, folder: str) -> None:
    place: Path = getattr(visits.server.settings, folder)
    with pytest.raises(Conflict, match="elsewhere"):
        backup.create(visits.server.settings, place / "copy")
    assert not (place / "copy").exists()


def test_a_folder_that_does_not_exist_is_named(visits: World, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="No such file or directory"):
        backup.create(visits.server.settings, tmp_path / "absent" / "copy")


@pytest.mark.only("sqlite")
def test_a_copy_that_is_not_whole_does_not_stay(
    visits: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sqlite_copy.written

    def torn(source: Path, path: Path) -> None:
        whole(source, path)
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(size // 2)
            file.write(os.urandom(4096))
            file.seek(size - 4096)
            file.write(bytes(4096))

    monkeypatch.setattr(sqlite_copy, "written", torn)
    with pytest.raises(DatabaseUnavailable):
        backup.create(visits.server.settings, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.only("postgresql")
def test_a_dump_that_the_servers_role_may_not_make_fails_and_leaves_nothing(
    visits: World, tmp_path: Path
) -> None:
    settings = visits.server.settings.model_copy(update={"migration_database_url": ""})
    with pytest.raises(DatabaseUnavailable, match="owner"):
        backup.create(settings, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.only("postgresql")
def test_without_the_program_the_command_is_named(
    visits: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="pg_dump --format=custom") as raised:
        backup.create(visits.server.settings, tmp_path / "copy")
    assert "postgresql-client" in raised.value.detail
    assert not (tmp_path / "copy").exists()


@pytest.mark.only("postgresql")
def test_a_password_is_not_among_the_arguments(
    visits: World, homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.databases.cluster import PASSWORD

    cluster = homes.cluster
    assert cluster is not None
    name = visits.server.settings.database_url.partition("?")[0].rpartition("/")[2]
    commands: list[list[str]] = []
    run = subprocess.run

    def noted(command: list[str], **options: object) -> object:
        commands.append(command)
        return run(command, **options)  # type: ignore[call-overload]  # as it was called

    monkeypatch.setattr(subprocess, "run", noted)
    owner = cluster.address(name, role="penstock_owner")
    settings = visits.server.settings.model_copy(update={"migration_database_url": owner})
    assert backup.create(settings, tmp_path / "copy").kind == POSTGRESQL
    assert [command[0] for command in commands] == ["pg_dump", "pg_restore", "pg_restore"]
    assert PASSWORD not in str(commands)


def test_every_table_of_history_is_looked_for() -> None:
    assert set(HISTORY) <= set(metadata.tables)


def test_a_home_knows_when_its_last_backup_was_made(world: World, tmp_path: Path) -> None:
    settings = world.server.settings
    assert backup.last(settings) is None
    made = backup.create(settings, tmp_path / "kept.backup")
    at = backup.last(settings)
    assert at is not None
    assert abs(at.timestamp() - Path(made.manifest).stat().st_mtime) < 60
    with pytest.raises(Conflict):
        backup.create(settings, settings.keys_path / "kept.backup")
    assert backup.last(settings) == at
