"""Test releases of long vectors: drawn before the lock, from neighbors that are true under it."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from sqlalchemy import Engine, event
from sqlmodel import col, select
from tests.altered_bytes import altered
from tests.faults.rules import neighbor_faults
from tests.unit.services.noise.long_vectors.stored_vectors import files, rows, store, vectors
from tests.unit.worlds import LONG_VALUES, World

from penstock.errors import IntegrityViolation, QuotaUsedUp
from penstock.persistence.chunks.folder import FolderWriting
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.releases import history, locked_state, long_releases
from penstock.services.verification.verification import verify

Drawn = Callable[..., long_releases.DrawnAhead]


def values(world: World, name: str, **wanted: object) -> list[float]:
    return list(np.asarray(world.ask(name, "long", **wanted).view.values))


def test_a_release_is_drawn_once_for_all_its_readers(long: World) -> None:
    first = values(long, "ines", tier="partner")
    taken = long.streams.taken
    assert values(long, "ines", tier="partner") == first == values(long, "paul")
    assert long.streams.taken == taken
    view = long.ask("paul", "long").view
    again = history.values(long.server, long.person("paul"), view.id)
    assert list(np.asarray(again.values)) == first
    assert np.abs(np.array(first) - LONG_VALUES).max() < 12 * view.error.standard_deviation
    assert list(view.keys) == list(range(20))


def test_the_leaf_commits_to_the_root_over_the_chunks(long: World) -> None:
    view = long.ask("pia", "long").view
    (leaf,) = (json.loads(row.bytes) for row in _leaves(long))
    assert leaf["release"] == view.id
    assert leaf["chunks"] == vectors(long)[max(vectors(long))].root
    assert "value_hmac" not in leaf
    assert verify(long.server, OPERATOR).problems == []


def _leaves(world: World) -> list[Leaf]:
    with world.server.database.read() as session:
        return list(session.exec(select(Leaf).where(col(Leaf.kind) == "release")).all())


def test_verification_finds_chunks_that_the_log_does_not_know(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has all keys replaces chunks and manifest: only the log tells."""
    view = long.ask("pia", "long").view
    monkeypatch.setattr(LongVector, "root", property(lambda _: "0" * 64))
    (problem,) = verify(long.server, OPERATOR).problems
    assert view.id in problem


def test_chunks_are_durable_before_their_row_is_committed(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    settle = FolderWriting.settle

    def settled(writing: FolderWriting) -> None:
        settle(writing)
        order.append("settled")

    monkeypatch.setattr(FolderWriting, "settle", settled)
    event.listen(Engine, "commit", note := lambda _: order.append("commit"))
    try:
        long.ask("pia", "long")
    finally:
        event.remove(Engine, "commit", note)
    assert order[0] == "settled"
    assert "commit" in order


def test_verification_finds_an_altered_chunk(long: World) -> None:
    view = long.ask("pia", "long").view
    file = files(long, max(vectors(long)))[2]
    file.write_bytes(altered(file.read_bytes()))
    (problem,) = verify(long.server, OPERATOR).problems
    assert view.id in problem
    assert "Chunk 2 of 3" in problem


@pytest.mark.parametrize("side", ["accurate", "noisy"])
def test_a_level_overtaken_by_another_is_drawn_again_from_the_true_neighbors(
    long: World, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    """While one level is drawn, another between it and its neighbor is stored."""
    long.ask("pia", "long")
    stored = vectors(long)
    with long.server.database.read() as session:
        ladder = kind_of(rows(session)[1]).ladder
    # The partner's level, which comes in between, is on the other side of the drawn one.
    rung = min(stored) + 5 if side == "noisy" else max(stored) - 5
    product: Drawn = long_releases.drawn
    seen: list[list[int]] = []

    def drawn(*arguments: object) -> long_releases.DrawnAhead:
        ahead = product(*arguments)
        if not seen:
            monkeypatch.setattr(long_releases, "drawn", product)
            long.ask("paul", "long")
            monkeypatch.setattr(long_releases, "drawn", drawn)
        assert ahead.vector is not None
        seen.append(ahead.vector.whole().tolist())
        return ahead

    monkeypatch.setattr(long_releases, "drawn", drawn)
    long.ask("ines", "long", level=float(ladder.value(rung)))
    assert len(seen) == 2
    assert vectors(long)[rung].whole().tolist() == seen[1] != seen[0]
    with long.server.database.read() as session:
        _, query, releases = rows(session)
        ordered = [vars(row) for row in sorted(releases, key=lambda row: row.seq)]
    assert neighbor_faults(ordered) == (0, 0)  # type: ignore[arg-type]  # rows by name
    assert query.seq == 3
    assert len(list(store(long).attempts())) == 4, "what was thrown away is gone"


def test_a_level_that_another_stored_meanwhile_is_handed_out_as_it_is(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    product: Drawn = long_releases.drawn
    others: list[list[float]] = []

    def drawn(*arguments: object) -> long_releases.DrawnAhead:
        monkeypatch.setattr(long_releases, "drawn", product)
        ahead = product(*arguments)
        others.append(values(long, "paul"))
        return ahead

    monkeypatch.setattr(long_releases, "drawn", drawn)
    assert values(long, "ines", tier="partner") == others[0]
    assert len(list(store(long).attempts())) == len(vectors(long)) == 2


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_level_between_vectors_in_rows_is_drawn_in_chunks_around_them(
    visits: World, monkeypatch: pytest.MonkeyPatch, in_pieces: bool
) -> None:
    """As earlier versions stored them, which had longer rows: those are read in pieces."""
    if in_pieces:
        monkeypatch.setattr(locked_state, "LONG", 1)
        monkeypatch.setattr(locked_state, "LARGEST", 1)
        monkeypatch.setattr(locked_state, "_statement", locked_state._statement.__wrapped__)
        alone = locked_state._statement_alone.__wrapped__
        monkeypatch.setattr(locked_state, "_statement_alone", alone)
    visits.push("long", values=LONG_VALUES, keys=None)
    accurate, noisy = values(visits, "ines"), values(visits, "pia")
    assert list(store(visits).attempts()) == []
    monkeypatch.setattr(sizes, "CHUNK", 8)
    middle = visits.ask("paul", "long").view
    assert len(list(store(visits).attempts())) == 1
    with visits.server.database.read() as session:
        finest, drawn, noisiest = rows(session)[2]
    assert (drawn.accurate_rung, drawn.noisy_rung) == (finest.rung, noisiest.rung)
    beside = np.abs(np.subtract(np.asarray(middle.values), accurate))
    assert 0 < beside.max() < 12 * middle.error.standard_deviation
    assert values(visits, "paul") == list(np.asarray(middle.values))
    assert (values(visits, "ines"), values(visits, "pia")) == (accurate, noisy)


def test_nothing_is_drawn_from_a_neighbor_that_was_altered(long: World) -> None:
    file = files(long, min(vectors(long)))[1]
    file.write_bytes(altered(file.read_bytes()))
    with pytest.raises(IntegrityViolation, match="Chunk 1 of 3"):
        long.ask("pia", "long")
    assert len(vectors(long)) == len(list(store(long).attempts())) == 1


def test_chunks_count_in_the_allowance_of_a_day(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their bytes, and not those of the manifest."""
    monkeypatch.setattr(sizes, "CHUNK", 1000)
    long.push("wide", values=[1] * 2000, keys=None)
    settings = long.server.settings.model_copy(update={"level_bytes_per_day": 8 * 2000})
    long.server.__dict__["settings"] = settings
    with long.server.database.read() as session:
        _, query, (anchor,) = rows(session, "wide")
        level = float(kind_of(query).ladder.value(anchor.rung + 5))
    long.ask("ines", "wide", level=level)
    attempts = list(store(long).attempts())
    with pytest.raises(QuotaUsedUp, match="16,000 bytes"):
        long.ask("ines", "wide", level=2 * level)
    assert list(store(long).attempts()) == attempts, "it is refused before it is drawn"
