"""Test that damaged chunks and manifests are refused by name: nothing lost, nothing drawn twice."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text
from sqlmodel import col, select
from tests.unit.services.noise.long_vectors.stored_vectors import files, store, vectors
from tests.unit.services.verification.tampered import alter, unguarded
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Release
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import backup
from penstock.services.releases import history
from penstock.services.verification.verification import verify


def shown(world: World, name: str = "pia") -> list[float]:
    return [float(value) for value in np.asarray(world.ask(name, "long").view.values)]


def state(world: World) -> tuple[list[int], list[str]]:
    """Return the stored levels and the attempts, which no refusal changes."""
    with world.server.database.read() as session:
        rungs = sorted(release.rung for release in session.exec(select(Release)).all())
    return rungs, sorted(store(world).attempts())


def missing(of: list[Path], _: list[Path]) -> None:
    of[1].unlink()


def altered(of: list[Path], _: list[Path]) -> None:
    content = of[1].read_bytes()
    of[1].write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])


def swapped(of: list[Path], _: list[Path]) -> None:
    first, second = of[0].read_bytes(), of[1].read_bytes()
    of[0].write_bytes(second)
    of[1].write_bytes(first)


def half(of: list[Path], _: list[Path]) -> None:
    of[1].write_bytes(of[1].read_bytes()[:40])


def of_another_attempt(of: list[Path], other: list[Path]) -> None:
    shutil.copy(other[1], of[1])


@pytest.mark.parametrize("damage", [missing, altered, swapped, half, of_another_attempt])
def test_a_damaged_chunk_is_named_and_comes_back_from_a_backup(
    long: World, tmp_path: Path, damage: Callable[[list[Path], list[Path]], None]
) -> None:
    before = shown(long)
    copy = Path(backup.create(long.server.settings, tmp_path / "copy").path)
    anchor, noisy = sorted(vectors(long))
    known = state(long)
    damage(files(long, noisy), files(long, anchor))
    view = long.ask("pia", "long").view
    with pytest.raises(IntegrityViolation, match=r"Chunk \d of 3 of release"):
        np.asarray(view.values)
    with pytest.raises(IntegrityViolation, match="Nothing was drawn or served"):
        long.ask("paul", "long")
    (problem,) = verify(long.server, OPERATOR).problems
    assert view.id in problem
    assert "of 3" in problem
    assert state(long) == known
    shutil.copytree(copy.with_name("copy.chunks"), store(long).folder, dirs_exist_ok=True)
    assert shown(long) == before
    assert long.ask("paul", "long").first
    assert verify(long.server, OPERATOR).problems == []


@contextmanager
def altered_row(world: World, statement: str) -> Iterator[str]:
    """Let the row of a release be another one for a while; yield the release's name."""
    with world.server.database.read() as session:
        row = session.exec(select(Release).order_by(col(Release.rung).desc())).first()
    assert row is not None
    alter(world, statement)
    yield row.public_id
    with unguarded(world) as connection:
        given = {"content": row.ciphertext, "id": row.id}
        connection.execute(text("UPDATE release SET ciphertext = :content WHERE id = :id"), given)


HALF = "UPDATE release SET ciphertext = substr(ciphertext, 1, 200) WHERE rung = {noisy}"
OTHER = (
    "UPDATE release SET ciphertext = (SELECT ciphertext FROM release WHERE rung = {anchor})"
    " WHERE rung = {noisy}"
)
MAGIC = "UPDATE release SET ciphertext = substr(ciphertext, 1, 19) WHERE rung = {noisy}"


@pytest.mark.each_database
@pytest.mark.parametrize("statement", [HALF, OTHER, MAGIC], ids=["half", "other", "its beginning"])
def test_a_manifest_that_is_half_written_or_of_another_level_is_refused(
    long: World, statement: str
) -> None:
    before = shown(long)
    anchor, noisy = sorted(vectors(long))
    known = state(long)
    with altered_row(long, statement.format(anchor=anchor, noisy=noisy)) as view:
        for act in (
            lambda: long.ask("pia", "long"),
            lambda: long.ask("paul", "long"),
            lambda: history.values(long.server, long.person("pia"), view),
        ):
            with pytest.raises(IntegrityViolation):
                act()
        problems = verify(long.server, OPERATOR).problems
        assert any(view in problem for problem in problems), problems
        assert state(long) == known
    assert shown(long) == before
    assert long.ask("paul", "long").first
    assert verify(long.server, OPERATOR).problems == []
