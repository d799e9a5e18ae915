"""Test datasets declared to hold the same people by several admins at once.

One group in the end.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import pytest
from sqlmodel import Session, select
from tests.databases.homes import PATIENCE
from tests.unit.services.exposure.crowds import together
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.persistence import Database
from penstock.persistence.tables import Dataset
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets, population
from penstock.services.exposure import same_people
from penstock.services.schemas.queries import DatasetRequest

pytestmark = pytest.mark.each_database

CROWD = 6


def registered(world: World, number: int, **changes: object) -> Callable[[], object]:
    request = DatasetRequest.model_validate({**SITES, "name": f"part{number}", **changes})
    return lambda: datasets.register(world.server, OPERATOR, request)


def declared(world: World, number: int) -> Callable[[], object]:
    return lambda: same_people.declare(world.server, OPERATOR, f"part{number}", f"part{number + 1}")


def groups(world: World) -> set[int | None]:
    with world.server.database.read() as session:
        rows = session.exec(select(Dataset)).all()
        return {row.people for row in rows if row.name.startswith("part")}


def test_a_chain_that_is_declared_at_once_is_one_group(world: World) -> None:
    for number in range(CROWD):
        registered(world, number)()
    links = [declared(world, number) for number in range(CROWD - 1)]
    late = [registered(world, CROWD + 1, same_people_as="part2"), registered(world, CROWD)]
    outcomes = together([*links, *late])
    assert Counter(outcomes) == {"done": CROWD + 1}
    declared(world, CROWD - 1)()
    group = groups(world)
    assert len(group) == 1
    assert None not in group


@pytest.mark.only("postgresql")
def test_where_declarations_do_not_write_alone_one_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken variant: both read the group of the one between before either writes.

    The second writes once the first has committed.  Side by side, each could hold what the other
    needs (a row that both change, and the edition, which every change to a dataset changes), and
    PostgreSQL would stop one of them.
    """
    for number in range(3):
        registered(world, number)()
    gate = threading.Barrier(2, timeout=PATIENCE)
    committed = threading.Event()
    require = population.require_comparable

    def wait_and_require(spec: DatasetRequest, others: Sequence[Dataset]) -> None:
        require(spec, others)
        gate.wait()
        if spec.name == "part1":
            assert committed.wait(PATIENCE)

    def first() -> None:
        declared(world, 0)()
        committed.set()

    def beside(database: Database) -> AbstractContextManager[Session]:
        return database.write_beside()

    monkeypatch.setattr(Database, "write", beside)
    monkeypatch.setattr(population, "require_comparable", wait_and_require)
    assert together([first, declared(world, 1)]) == ["done", "done"]
    assert len(groups(world)) == 2
