"""Test that a view in a warehouse is a dataset like a file: one budget, and nothing lost."""

import json

import pytest
from sqlmodel import select
from tests.databases.cluster import Cluster
from tests.databases.warehouse import made
from tests.unit.connectors.postgresql.visits import (
    COUNTS,
    VISITS,
    filled,
    server_at,
)
from tests.unit.worlds import World

from penstock.errors import Conflict, InvalidInput, SourceChanged, Unavailable
from penstock.persistence.tables import Charge, Dataset, Leaf, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import queries, registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest, LevelsChange
from penstock.services.verification.verification import verify


def charges(world: World) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(Charge)).all())


def test_a_view_is_registered_once_queried_and_refused_when_it_changed(
    world: World, cluster: Cluster
) -> None:
    request = DatasetRequest.model_validate(VISITS)
    counts = ComputedQueryRequest.model_validate(COUNTS)
    moved = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 2.0}}})
    with made(cluster) as warehouse:
        filled(warehouse)
        server = server_at(world, warehouse.address)
        (notice,) = datasets.register(server, OPERATOR, request).notices
        assert "may change between queries" in notice
        twin = DatasetRequest.model_validate({**VISITS, "name": "twin"})
        with pytest.raises(Conflict, match="registered already"):
            datasets.register(server, OPERATOR, twin)
        registration.register(server, OPERATOR, counts)
        with world.server.database.read() as session:
            assert (session.exec(select(Query)).one().sql or "").startswith('WITH "typed" AS')
        before = charges(world)
        for other in ("ALTER TABLE data.visits ADD COLUMN age int", "DROP TABLE data.visits"):
            warehouse.run(other)
            with pytest.raises(SourceChanged):
                queries.change(server, OPERATOR, "counts", moved)
        filled(warehouse)
        away = server_at(world, warehouse.address.replace(f":{cluster.port}/", ":1/"))
        with pytest.raises(Unavailable, match="cannot be reached"):
            queries.change(away, OPERATOR, "counts", moved)
        assert charges(world) == before
        queries.change(server, OPERATOR, "counts", moved)
        assert charges(world) > before


def raised(server: Server, epsilon: float) -> list[str]:
    """Raise the highest level of ``counts``; return the states that it was read from."""
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": epsilon}}})
    return queries.change(server, OPERATOR, "counts", change).read_states


def test_a_query_says_which_states_were_read_and_draws_from_no_other_answer(
    world: World, cluster: Cluster
) -> None:
    """Rows that change no answer leave a level free to be raised, and all others do not."""
    with made(cluster) as warehouse:
        filled(warehouse)
        server = server_at(world, warehouse.address)
        datasets.register(server, OPERATOR, DatasetRequest.model_validate(VISITS))
        view = registration.register(server, OPERATOR, ComputedQueryRequest.model_validate(COUNTS))
        (first,) = view.read_states
        assert first.startswith("PostgreSQL system ")
        warehouse.run("INSERT INTO data.visits VALUES ('dan', 'elsewhere')")
        before, second = raised(server, 2.0)
        assert first == before != second
        warehouse.run("INSERT INTO data.visits VALUES ('eve', 'north')")
        drawn = world.streams.taken
        with pytest.raises(Conflict, match="not those that 'counts' was registered with"):
            raised(server, 3.0)
        assert world.streams.taken == drawn
        assert queries.show(server, OPERATOR, "counts").read_states == [first, second]
        warehouse.run("DELETE FROM data.visits WHERE person = 'eve'")
        assert raised(server, 3.0)[:2] == [first, second]


def test_nobody_is_told_again_and_again_whether_an_answer_changed(
    world: World, cluster: Cluster
) -> None:
    """Each refusal says that it did, which is not charged: three are, and are in the log."""
    with made(cluster) as warehouse:
        filled(warehouse)
        server = server_at(world, warehouse.address)
        datasets.register(server, OPERATOR, DatasetRequest.model_validate(VISITS))
        registration.register(server, OPERATOR, ComputedQueryRequest.model_validate(COUNTS))
        warehouse.run("INSERT INTO data.visits VALUES ('eve', 'north')")
        for number in (1, 2, 3):
            with pytest.raises(Conflict, match=f"mismatch {number} of 3. .*(restore|any more)"):
                raised(server, 2.0)
        before = charges(world)
        warehouse.run("DELETE FROM data.visits WHERE person = 'eve'")
        with pytest.raises(Conflict, match="were read 3 times"):
            raised(server, 3.0)
        assert charges(world) == before
    with world.server.database.read() as session:
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    assert [leaf["mismatches"] for leaf in leaves if "mismatches" in leaf] == [1, 2, 3]
    assert verify(server, OPERATOR).problems == []


def test_a_server_that_cannot_be_reached_registers_nothing(world: World) -> None:
    request = DatasetRequest.model_validate(VISITS)
    with pytest.raises(InvalidInput, match="PENSTOCK_CONNECTION_WAREHOUSE"):
        datasets.register(world.server, OPERATOR, request)
    server = server_at(world, "postgresql://penstock:hidden@127.0.0.1:1/visits")
    with pytest.raises(Unavailable) as raised:
        datasets.register(server, OPERATOR, request)
    assert "hidden" not in str(raised.value)
    with world.server.database.read() as session:
        assert "visits" not in {dataset.name for dataset in session.exec(select(Dataset)).all()}
