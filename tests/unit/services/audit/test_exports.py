"""Test the log as a file: whole, the server's alone, its owner's for a day, and then gone."""

import errno
import stat
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from tests.unit.worlds import World

from penstock.connectors.progress import silent
from penstock.errors import Forbidden, NotFound, Unavailable
from penstock.services.audit import exports, proofs
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest, WorkView


def begun(world: World, key: str = "k") -> WorkView:
    wanted = JobRequest("export_log", key, idempotency.fingerprint(world.server, b"x"))
    return jobs.start_job(world.server, world.person("otto"), wanted, "here").piece


def written(world: World, key: str = "k") -> WorkView:
    otto, piece = world.person("otto"), begun(world, key)
    name = exports.write(world.server, otto, piece.id, piece.attempt, silent)
    jobs.finish(world.server, piece.id, piece.attempt, name)
    return jobs.show(world.server, otto, piece.id)


def content(world: World, piece: WorkView, by: str = "otto", host: str = "here") -> bytes:
    with exports.content(world.server, world.person(by), piece, host) as file:
        return file.read()


def files(world: World) -> list[Path]:
    return sorted((world.server.settings.home / "exports").iterdir())


def test_an_export_is_every_leaf_as_the_api_writes_it(visits: World) -> None:
    heard: list[tuple[str, int | None]] = []
    otto, piece = visits.person("otto"), begun(visits)

    def told(stage: str, percent: int | None = None, /) -> None:
        heard.append((stage, percent))

    name = exports.write(visits.server, otto, piece.id, piece.attempt, told)
    jobs.finish(visits.server, piece.id, piece.attempt, name)
    lines = [orjson.dumps(leaf) + b"\n" for leaf in proofs.export(visits.server, otto)]
    assert len(lines) > 10
    assert content(visits, jobs.show(visits.server, otto, piece.id)) == b"".join(lines)
    assert heard == [("writing the log", 0)]


def test_an_export_says_how_many_of_the_leaves_are_written(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_LEAVES", 5)
    heard: list[int | None] = []
    piece, size = begun(visits), proofs.size(visits.server)
    exports.write(
        *(visits.server, visits.person("otto"), piece.id, piece.attempt),
        lambda _, percent=None: heard.append(percent),
    )
    assert heard == [100 * leaf // size for leaf in range(0, size, 5)]


def test_a_file_is_the_servers_alone(world: World) -> None:
    written(world)
    (path,) = files(world)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_only_auditors_export_and_fetch(world: World) -> None:
    ada, piece = world.person("ada"), begun(world)
    with pytest.raises(Forbidden):
        exports.write(world.server, ada, piece.id, 1, silent)
    with pytest.raises(Forbidden):
        content(world, written(world, "other"), "ada")


def test_a_file_is_handed_out_for_a_day_and_then_removed(world: World) -> None:
    piece = written(world)
    world.clock.now += exports.LIFE - timedelta(seconds=1)
    exports.tidy(world.server)
    assert content(world, piece)
    world.clock.forward(seconds=1)
    with pytest.raises(NotFound, match="export the log again"):
        content(world, piece)
    assert len(files(world)) == 1
    exports.tidy(world.server)
    assert files(world) == []


def test_what_nobody_finishes_or_knows_is_removed(world: World) -> None:
    kept = written(world)
    folder = world.server.settings.home / "exports"
    running = begun(world, "running")
    names = [f"{running.id}-1.part", "unknown-1.jsonl", f"{kept.id}-0.part", "else"]
    for name in names:
        (folder / name).touch()
    exports.tidy(world.server)
    assert {path.name for path in files(world)} == {kept.result, names[0]}
    world.clock.forward(minutes=2)
    exports.tidy(world.server)
    assert {path.name for path in files(world)} == {kept.result}


def test_a_file_on_another_machine_is_said_to_be_there(world: World) -> None:
    piece = written(world)
    files(world)[0].unlink()
    with pytest.raises(NotFound, match="It was written on here, and this is there"):
        content(world, piece, host="there")
    with pytest.raises(NotFound, match="not on this machine"):
        content(world, piece, host="here")


def test_a_full_disk_is_said_and_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    piece = begun(world)
    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(Unavailable, match="No space left on device"):
        exports.write(world.server, world.person("otto"), piece.id, 1, silent)
    assert files(world) == []


def test_an_export_that_was_stopped_is_written_anew(world: World) -> None:
    piece = begun(world)
    folder = world.server.settings.home / "exports"
    folder.mkdir()
    (folder / f"{piece.id}-1.part").write_text("half")
    exports.write(world.server, world.person("otto"), piece.id, 1, silent)
    assert b"half" not in files(world)[0].read_bytes()


def test_a_file_that_is_removed_meanwhile_is_read_to_its_end(world: World) -> None:
    piece = written(world)
    whole = content(world, piece)
    with exports.content(world.server, world.person("otto"), piece, "here") as file:
        files(world)[0].unlink()
        assert file.read() == whole
