"""Test new keys while the server runs, and datasets that nobody can read again."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import select
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.encryption import Key, KeyRing, dataset_context, signing_context, wrapping_key
from penstock.errors import Conflict, Forbidden, InvalidInput, KeysUnavailable, NotFound
from penstock.persistence.tables import Dataset, Leaf, LogKey
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events, proofs
from penstock.services.datasets import datasets
from penstock.services.noise.keys import dataset_key
from penstock.services.operations import home, key_rotation, retired_keys
from penstock.services.pagination import Window
from penstock.services.queries import queries
from penstock.services.releases import history, releases
from penstock.services.schemas.queries import DatasetRequest, ReleaseRequest, VersionRequest
from penstock.services.verification import verification

PEOPLE = "person,age\n" + "".join(f"p{i},{20 + i % 50}\n" for i in range(40))


def nothing() -> None:
    """Do nothing, as no request is at work."""


def drop(world: World, pause: Callable[[], None] = nothing) -> key_rotation.KeysView:
    """Drop every retired key."""
    found = retired_keys.droppable(world.server, OPERATOR, (), ())
    return retired_keys.drop(world.server, OPERATOR, found, pause)


def kept(world: World, name: str) -> list[bytes]:
    with world.server.database.read() as session:
        found = session.exec(select(Dataset).where(Dataset.folded == name)).all()
        return [one.wrapped_kek for one in found]


def test_every_key_is_another_after_a_rotation_and_every_value_the_same(world: World) -> None:
    world.push()
    before = world.ask("ines").view.values
    old = key_rotation.show(world.server, OPERATOR)
    new = key_rotation.rotate(world.server, OPERATOR)
    assert {one.key for one in old.used}.isdisjoint({one.key for one in new.used})
    assert new.keys == 2 * old.keys
    assert [one.key for one in new.retired][:1] == [one.key for one in old.used]
    assert (world.ask("ines").view.values == before).all()
    world.ask("pia")
    with world.server.database.read() as session:
        leaf = session.exec(select(Leaf).where(Leaf.kind == "key")).one()
    assert b'"rotated":' in leaf.bytes


@pytest.mark.slow
def test_no_request_fails_while_keys_rotate(world: World) -> None:
    world.push(max_levels=500)
    value = world.ask("ines").view.values
    failures: list[Exception] = []
    rounds, over = [0, 0, 0], threading.Event()

    def work(number: int) -> None:
        server = home.open_server(world.server.settings)
        caller = world.person("ines")
        while not over.is_set():
            wanted = ReleaseRequest(epsilon=0.4 / (1 + rounds[number] % 40 + 40 * number))
            try:
                releases.request(server, caller, "visits", wanted)
                again = releases.request(server, caller, "visits", ReleaseRequest())
                assert (again.view.values == value).all()
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is shown below
                failures.append(failure)
            rounds[number] += 1
        server.database.close()

    def pause() -> None:
        seen = list(rounds)
        while any(now < then + 2 for now, then in zip(rounds, seen, strict=True)):
            over.wait(0.01)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(4):
        key_rotation.rotate(world.server, OPERATOR)
        drop(world, pause)
    over.set()
    for worker in workers:
        worker.join()
    assert not failures


def test_without_the_pause_a_request_that_is_at_work_would_fail(world: World) -> None:
    world.push()
    with world.server.database.read() as session:
        row = session.exec(select(Dataset)).one()
        stale = Dataset(**row.model_dump())
    key_rotation.rotate(world.server, OPERATOR)
    drop(world)
    server = home.open_server(world.server.settings)
    with pytest.raises(KeysUnavailable):
        dataset_key(server, stale)
    server.database.close()


def test_old_keys_are_forgotten_after_the_pause_and_not_before(world: World) -> None:
    world.push()
    with world.server.database.read() as session:
        stale = Dataset(**session.exec(select(Dataset)).one().model_dump())
    seen: list[bool] = []

    def pause() -> None:
        server = home.open_server(world.server.settings)
        key = dataset_key(server, stale)
        seen.append(key.material == dataset_key(server, row(world)).material)
        server.database.close()
        assert row(world).wrapped_kek != stale.wrapped_kek

    key_rotation.rotate(world.server, OPERATOR)
    drop(world, pause)
    assert seen == [True]
    assert key_rotation.show(world.server, OPERATOR).retired == []


def row(world: World) -> Dataset:
    with world.server.database.read() as session:
        return session.exec(select(Dataset)).one()


def test_the_key_that_signs_the_log_is_wrapped_anew_and_stays_what_it_is(world: World) -> None:
    world.push()
    first = world.ask("ines").view.receipt
    before = signing(world)
    key_rotation.rotate(world.server, OPERATOR)
    drop(world)
    after = signing(world)
    assert [key.public for key in after] == [key.public for key in before]
    for old, new in zip(before, after, strict=True):
        assert wrapping_key(old.wrapped) != wrapping_key(new.wrapped)
        context = signing_context(old.public)
        assert world.server.provider.unwrap(new.wrapped, context).material
        with pytest.raises(KeysUnavailable, match="lacks key"):
            KeyRing.load(world.server.settings.keys_path / home.KEY_RING).unwrap(
                old.wrapped, context
            )
    world.ask("pia")
    assert first.index is not None
    assert proofs.checkpoint(world.server).size > first.index + 1
    assert verification.verify(world.server, OPERATOR).problems == []


def signing(world: World) -> list[LogKey]:
    with world.server.database.read() as session:
        return list(session.exec(select(LogKey)).all())


@pytest.mark.parametrize("step", ["renew", "rewrap"])
def test_a_rotation_that_is_cut_off_loses_nothing_and_is_done_again(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    world.push()
    before = world.ask("ines").view.values

    def cut(*_: object) -> None:
        raise KeysUnavailable("The power went.")

    with monkeypatch.context() as patch:
        patch.setattr(KeyRing, step, cut)
        with pytest.raises(KeysUnavailable, match="power"):
            key_rotation.rotate(world.server, OPERATOR)
    assert (world.ask("ines").view.values == before).all()
    old = key_rotation.show(world.server, OPERATOR)
    drop(world)
    assert (world.ask("ines").view.values == before).all()
    key_rotation.rotate(world.server, OPERATOR)
    new = drop(world)
    assert new.keys <= old.keys
    assert {one.key for one in old.used}.isdisjoint({one.key for one in new.used})
    assert (world.ask("ines").view.values == before).all()


def test_a_shredded_dataset_gives_nothing_more_and_keeps_what_it_cost(world: World) -> None:
    world.push()
    held = world.ask("ines").view.id
    before = budgets.show(world.server, OPERATOR, "sites")
    done = key_rotation.shred(world.server, OPERATOR, "SITES")
    assert (done.dataset, done.versions, done.queries, done.keys) == ("sites", [1], 1, 1)
    assert kept(world, "sites") == [b""]
    for act in (
        lambda: world.ask("ines"),
        lambda: world.ask("pia"),
        lambda: history.values(world.server, world.person("ines"), held),
        lambda: world.push("more", values=[1, 2, 3]),
    ):
        with pytest.raises(Conflict, match=r"shredded|retired"):
            act()
    assert budgets.show(world.server, OPERATOR, "sites") == before
    assert key_rotation.show(world.server, OPERATOR).used[0].key is None
    key_rotation.rotate(world.server, OPERATOR)
    home.open_server(world.server.settings).database.close()
    assert verification.verify(world.server, OPERATOR).problems == []


def test_not_even_a_backup_can_be_read_after_shredding(world: World) -> None:
    world.push()
    with world.server.database.read() as session:
        row = session.exec(select(Dataset)).one()
        backup = Dataset(**row.model_dump())
    other = DatasetRequest.model_validate({**SITES, "name": "other"})
    datasets.register(world.server, OPERATOR, other)
    key_rotation.shred(world.server, OPERATOR, "sites")
    with pytest.raises(KeysUnavailable, match="lacks key"):
        dataset_key(world.server, backup)
    with world.server.database.read() as session:
        standing = session.exec(select(Dataset).where(Dataset.name == "other")).one()
        dataset_key(world.server, standing)


def test_retired_keys_go_with_the_dataset_and_a_newest_one_is_never_dropped(world: World) -> None:
    """What is being registered has a key before it has a row."""
    context = dataset_context("coming@1")
    coming = world.server.provider.wrap(Key.fresh(), context)
    key_rotation.rotate(world.server, OPERATOR)
    (mine,) = [one for one in key_rotation.show(world.server, OPERATOR).retired if one.dataset]
    assert (mine.dataset, mine.version) == ("sites", 1)
    for name in ("nonsense", key_rotation.show(world.server, OPERATOR).used[0].key or ""):
        with pytest.raises(InvalidInput, match="is not a retired key"):
            retired_keys.droppable(world.server, OPERATOR, [name], ())
    assert key_rotation.shred(world.server, OPERATOR, "sites").keys == 2
    assert mine.key not in world.server.provider.health().keys
    found = retired_keys.droppable(world.server, OPERATOR, (), ())
    assert [one.dataset for one in found] == [None]
    retired_keys.drop(world.server, OPERATOR, found, nothing)
    assert world.server.provider.unwrap(coming, context).material
    assert verification.verify(world.server, OPERATOR).problems == []


def test_shredding_that_was_cut_off_is_finished_by_doing_it_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise KeysUnavailable("The power went.")

    world.push()
    with monkeypatch.context() as patch:
        patch.setattr(KeyRing, "destroy", cut)
        with pytest.raises(KeysUnavailable):
            key_rotation.shred(world.server, OPERATOR, "sites")
    done = key_rotation.shred(world.server, OPERATOR, "sites")
    assert (done.queries, done.keys) == (0, 1)
    assert key_rotation.shred(world.server, OPERATOR, "sites").keys == 0


def test_all_versions_go_and_their_file_is_not_new_afterwards(world: World, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(PEOPLE)
    second.write_text(PEOPLE + "p99,33\n")
    spec: dict[str, object] = {
        **SITES,
        "name": "people",
        "source": {"engine": "duckdb", "uri": str(first)},
        "privacy_unit": {"column": "person"},
        "columns": {"person": {"type": "string"}, "age": {"type": "integer"}},
    }
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    source = {"engine": "duckdb", "uri": str(second)}
    version = VersionRequest.model_validate({"source": source, "budgets": SITES["budgets"]})
    datasets.add_version(world.server, OPERATOR, "people", version)
    done = key_rotation.shred(world.server, OPERATOR, "people")
    assert (done.versions, done.keys) == ([1, 2], 2)
    listed = [event.leaf for event in events.listing(world.server, OPERATOR, Window()).items]
    told = [leaf for leaf in listed if leaf["kind"] == "key"]
    assert [(leaf["dataset"], leaf["version"], leaf["shredded"]) for leaf in told] == [
        ("people", 1, True),
        ("people", 2, True),
    ]
    assert {leaf["actor"] for leaf in told} == {"operator"}
    for path in (first, second):
        again = {**spec, "name": "again", "source": {"engine": "duckdb", "uri": str(path)}}
        with pytest.raises(Conflict, match="registered already"):
            datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(again))


@pytest.mark.parametrize(
    "act",
    [
        lambda world, by: key_rotation.show(world.server, by),
        lambda world, by: key_rotation.rotate(world.server, by),
        lambda world, by: key_rotation.shred(world.server, by, "sites"),
    ],
)
def test_only_admins_have_to_do_with_keys(
    world: World, act: Callable[[World, object], object]
) -> None:
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            act(world, world.person(name))
    assert kept(world, "sites") != [b""]


def test_what_does_not_exist_is_not_shredded(world: World) -> None:
    with pytest.raises(NotFound, match="no dataset 'nothing'"):
        key_rotation.shred(world.server, OPERATOR, "nothing")


def test_queries_of_a_shredded_dataset_are_listed_as_retired(world: World) -> None:
    world.push()
    key_rotation.shred(world.server, OPERATOR, "sites")
    assert queries.show(world.server, OPERATOR, "visits").status == "retired"
