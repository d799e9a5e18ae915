"""Test that a database put back to an older state draws no noise until that is acknowledged."""

import pytest
from sqlalchemy import text
from sqlmodel import select
from tests.unit.sites import SITES
from tests.unit.worlds import Restore, World

from penstock.errors import BudgetExhausted, Conflict, Forbidden, IntegrityViolation, Suspended
from penstock.persistence.tables import Leaf, Query, SpentFloor
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events, restores
from penstock.services.datasets import allowances, datasets
from penstock.services.operations import home
from penstock.services.pagination import Window
from penstock.services.people import tier_changes
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
)
from penstock.services.verification.verification import verify
from penstock.transparency_log import checkpoints, leaves
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.witness import FileWitness


def kinds(world: World) -> list[object]:
    return [
        event.leaf["kind"]
        for event in events.listing(world.server, world.person("otto"), Window()).items
    ]


@pytest.fixture
def early(visits: World) -> World:
    """Release her level to pia before anything is kept."""
    visits.ask("pia")
    return visits


@pytest.fixture
def allowing(visits: World) -> World:
    """Give a tier an allowance before anything is kept."""
    allowances.give(visits.server, OPERATOR, "sites", "partner", AllowanceSpec(epsilon=0.5))
    return visits


def test_allowances_are_taken_back_since_nobody_knows_what_is_left_of_them(
    allowing: World, restore: Restore
) -> None:
    """One that had been taken back, as well, is lost with the leaf that says so."""
    allowances.take_back(allowing.server, OPERATOR, "sites", "partner")
    old = restore()
    assert len(allowances.listing(old.server, OPERATOR, "sites")) == 1
    restores.acknowledge(old.server, OPERATOR)
    assert allowances.listing(old.server, OPERATOR, "sites") == []
    assert kinds(old)[-2:] == ["restore", "allowance"]
    assert verify(old.server, OPERATOR).problems == []


def test_what_was_handed_out_is_served_and_nothing_is_drawn(early: World, restore: Restore) -> None:
    first, later = early.ask("pia").view, early.ask("paul").view
    taken = early.streams.taken
    old = restore()
    assert old.server.sequencer.suspended
    again = old.ask("pia").view
    assert (again.id, again.receipt) == (first.id, first.receipt)
    assert (again.values == first.values).all()
    for act in (
        lambda: old.ask("paul"),
        lambda: old.ask("pia", epsilon=0.05),
        lambda: old.push("more"),
        lambda: datasets.register(
            old.server, OPERATOR, DatasetRequest.model_validate({**SITES, "name": "other"})
        ),
        old.server.sequencer.require_sound,
    ):
        with pytest.raises(Suspended, match="acknowledge-restore"):
            act()
    assert early.streams.taken == taken
    assert later.values.size


def test_a_crash_before_the_witness_is_no_restore(
    early: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is ahead of its witness: it goes on, and the witness catches up."""
    witness = early.server.sequencer.witness
    before = witness.seen()

    def crash(_: object) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(witness, "advance", crash)
        with pytest.raises(SystemError):
            early.ask("paul")
    assert witness.seen() == before
    taken = early.streams.taken
    early.ask("paul")
    assert early.streams.taken == taken, "what was drawn is not drawn again"
    assert witness.seen().size > before.size


def test_a_fork_that_grew_as_long_is_told_by_its_root(early: World, restore: Restore) -> None:
    witness = home.witness(early.server.settings)
    old = restore()
    lower = witness.seen()
    early = World(
        home.open_server(early.server.settings, clock=early.clock, randomness=early.streams),
        early.clock,
        early.streams,
    )
    assert old.server.sequencer.suspended is None
    early.ask("paul")
    old.ask("ines")
    mine, theirs = (home.witness(w.server.settings).seen() for w in (early, old))
    assert mine.size == theirs.size > lower.size
    assert mine.root != theirs.root
    old.server.sequencer.witness.start_over(mine)
    with pytest.raises(Suspended, match="other leaves in their place"):
        old.ask("paul")
    early.server.database.close()


def test_an_acknowledged_restore_is_logged_and_draws_nothing_from_older_queries(
    early: World, restore: Restore
) -> None:
    first = early.ask("pia").view
    early.ask("paul")
    old = restore()
    with pytest.raises(Forbidden):
        restores.acknowledge(old.server, old.person("otto"))
    found = restores.acknowledge(old.server, OPERATOR)
    assert (found.frozen, found.datasets) == (1, [])
    assert found.witnessed is not None
    assert kinds(old)[-1] == "restore"
    assert old.server.sequencer.suspended is None
    assert old.ask("pia").view.id == first.id
    taken = old.streams.taken
    with pytest.raises(Conflict, match="older state"):
        old.ask("paul")
    with old.server.database.read() as session:
        assert [query.seq for query in session.exec(select(Query)).all()] == [1]
    old.push("fresh", share=0.01, levels=None)
    assert old.ask("paul", "fresh").first
    assert old.streams.taken > taken
    assert verify(old.server, OPERATOR).problems == []
    with pytest.raises(Conflict, match="no restore"):
        restores.acknowledge(old.server, OPERATOR)


def test_the_budget_of_lost_queries_stays_spent(early: World, restore: Restore) -> None:
    early.push("large", share=0.7, levels=None)
    spent = budgets.show(early.server, OPERATOR, "sites").tiers
    old = restore()
    assert restores.acknowledge(old.server, OPERATOR).charged == 3
    after = budgets.show(old.server, OPERATOR, "sites").tiers
    for mine, theirs in zip(spent, after, strict=True):
        assert theirs.remaining_share == pytest.approx(mine.remaining_share)
    with pytest.raises(BudgetExhausted):
        old.push("again", share=0.7, levels=None)
    old.push("small", share=0.01, levels=None)
    with old.server.database.read() as session:
        assert len(session.exec(select(SpentFloor)).all()) == 3


def test_a_lost_witness_begins_anew_once_that_is_acknowledged(early: World) -> None:
    (early.server.settings.witness_path / "log.json").unlink()
    found = restores.acknowledge(early.server, OPERATOR)
    assert found.witnessed is None
    assert early.server.sequencer.witness.seen().size == found.leaves + 1
    assert early.ask("pia").view.values.size


def test_a_dataset_from_after_the_backup_is_named_and_no_problem(
    early: World, restore: Restore
) -> None:
    """Nobody else knows any more what it had spent."""
    other = DatasetRequest.model_validate({**SITES, "name": "Other"})
    datasets.register(early.server, OPERATOR, other)
    early.push("lost", dataset="other", share=0.5, levels=None)
    old = restore()
    found = restores.acknowledge(old.server, OPERATOR)
    assert (found.datasets, found.charged) == (["other"], 0)
    kept = old.server.sequencer.witness.seen().accounts
    assert {name for name in kept if name.startswith("other@")}, (
        "what it had spent is not forgotten"
    )
    last = events.listing(old.server, old.person("otto"), Window()).items[-1].leaf
    assert (last["kind"], last["datasets"]) == ("restore", ["other"])
    assert verify(old.server, OPERATOR).problems == []
    datasets.register(old.server, OPERATOR, other)
    old.push("new", dataset="other", share=0.1, levels=None)
    assert verify(old.server, OPERATOR).problems == []


@pytest.mark.parametrize("more", [(1, 0), (0, 1)])
def test_whatever_the_witness_saw_spent_stays_spent(
    early: World, restore: Restore, more: tuple[int, int]
) -> None:
    early.ask("paul")
    witness = early.server.sequencer.witness
    seen = witness.seen()
    name, (loss, failure) = sorted(seen.accounts.items())[0]
    spent = {**seen.accounts, name: (loss + more[0], failure + more[1])}
    witness.start_over(Sight(seen.size, seen.root, spent))
    old = restore()
    assert restores.acknowledge(old.server, OPERATOR).charged == 1
    with old.server.database.read() as session:
        floor = session.exec(select(SpentFloor)).one()
    assert (floor.loss, floor.failure) == spent[name]


@pytest.mark.only("sqlite")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE leaf SET bytes = bytes || ' ' WHERE kind = 'release'",
        "UPDATE checkpoint SET note = replace(note, 'T', 'U')",
        "UPDATE checkpoint SET root = zeroblob(32)",
    ],
)
def test_what_the_log_does_not_prove_is_not_served_while_suspended(
    early: World, restore: Restore, statement: str
) -> None:
    early.ask("paul")
    old = restore()
    assert old.ask("pia").view.values.size
    with old.server.database.write_unwatched() as session:
        for table in ("leaf", "checkpoint"):
            for event in ("update", "delete"):
                session.connection().execute(
                    text(f'DROP TRIGGER IF EXISTS "append_only_{table}_{event}"')
                )
        session.connection().execute(text(statement))
    with pytest.raises(IntegrityViolation, match="does not prove"):
        old.ask("pia")


def test_versions_and_tiers_from_after_the_backup_are_no_problem(
    early: World, restore: Restore
) -> None:
    """What is lost of a dataset is named, and whatever comes in its place is held to the log."""
    tier_changes.create(early.server, OPERATOR, TierSpec(name="between", above="public"))
    levels = {"public": {"epsilon": 0.02}, "between": {"epsilon": 0.03}}
    early.push("lost", levels=levels)
    witness = early.server.sequencer.witness
    seen = witness.seen()
    lost = {"sites@2/1": (9, 0), "gone@1/1": (9, 0), "gone@2/1": (9, 0)}
    witness.start_over(Sight(seen.size, seen.root, {**seen.accounts, **lost}))
    old = restore()
    found = restores.acknowledge(old.server, OPERATOR)
    assert (found.datasets, found.charged) == (["gone", "sites@2"], 3)
    assert verify(old.server, OPERATOR).problems == []
    tier_changes.create(old.server, OPERATOR, TierSpec(name="other", above="internal"))
    old.push("new", levels={"public": {"epsilon": 0.02}})
    assert verify(old.server, OPERATOR).problems == []
    witness = old.server.sequencer.witness
    late = witness.seen()
    witness.start_over(Sight(late.size, late.root, {**late.accounts, "late@1/1": (1, 0)}))
    assert any("late@1/1" in problem for problem in verify(old.server, OPERATOR).problems)


def stop(*_: object, **__: object) -> None:
    raise SystemError


def test_an_acknowledgment_that_was_stopped_before_the_witness_began_anew_is_one(
    early: World, restore: Restore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is it acknowledged twice, nor approved twice where that takes two."""
    early.push("large", share=0.7, levels=None)
    old = restore()
    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "start_over", stop)
        with pytest.raises(SystemError):
            restores.acknowledge(old.server, OPERATOR)
    again = home.open_server(old.server.settings, clock=old.clock, randomness=old.streams)
    assert again.sequencer.suspended is None
    world = World(again, old.clock, old.streams)
    assert kinds(world).count("restore") == 1
    with pytest.raises(Conflict, match="no restore"):
        restores.acknowledge(again, OPERATOR)
    with pytest.raises(BudgetExhausted):
        world.push("again", share=0.7, levels=None)
    world.push("small", share=0.01, levels=None)
    assert verify(again, OPERATOR).problems == []
    again.database.close()


def test_an_acknowledgment_is_of_what_the_witness_saw_then_and_of_nothing_newer(
    early: World, restore: Restore
) -> None:
    """A copy from right behind it, put back later, is as old as any other."""
    early.ask("paul")
    old = restore()
    restores.acknowledge(old.server, OPERATOR)
    witness = old.server.sequencer.witness
    seen = witness.seen()
    for other in (
        Sight(seen.size + 1, bytes(32)),
        Sight(seen.size, bytes(32)),
        Sight(seen.size - 1, seen.root),
    ):
        witness.start_over(other)
        with pytest.raises(Suspended):
            old.push("more")
        assert witness.seen() == other
    witness.start_over(seen)
    assert old.ask("pia").view.values.size


@pytest.mark.only("sqlite")
def test_an_acknowledgment_that_the_log_does_not_prove_is_none(
    early: World, restore: Restore
) -> None:
    early.ask("paul")
    old = restore()
    seen = old.server.sequencer.witness.seen()
    said = leaves.canonical({"kind": "restore", "witnessed": seen.size, "root": seen.root.hex()})
    with old.server.database.write_unwatched() as session:
        newest = checkpoints.newest(session)
        assert newest is not None
        at = old.clock.now
        for index in (newest.size, None):
            session.add(
                Leaf(
                    index=index,
                    bytes=said,
                    hash=leaves.leaf_hash(said),
                    kind="restore",
                    at=at,
                    actor="operator",
                )
            )
    with pytest.raises(Suspended):
        old.push("more")
    assert old.server.sequencer.witness.seen() == seen
