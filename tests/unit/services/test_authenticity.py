"""A query's row that was altered outside of the server is refused wherever it is read."""

import pytest
from sqlalchemy import update
from sqlmodel import select
from tests.unit.services.conftest import SITES, World

from penstock.errors import IntegrityViolation
from penstock.persistence import migrate
from penstock.persistence.tables import Query
from penstock.persistence.tables.columns import metadata
from penstock.services import authenticity, datasets, exposure, home, queries, tiers
from penstock.services.principals import OPERATOR
from penstock.services.specs import DatasetRequest, LevelsChange, TierSpec

TABLE = metadata.tables["query"]
LEFT_ALONE = {"id", "created_at", "mac"}


def alter(world: World, column: str, value: object) -> None:
    """Change a column of the query as somebody would who can write to the database."""
    with world.server.database.write() as session:
        statement = update(TABLE).values({column: value}).where(TABLE.c.name == "visits")
        session.connection().execute(statement)


def other(row: Query, column: str) -> object:
    """Another value that the table's constraints allow."""
    value = getattr(row, column)
    match value:
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:]
        case int() if column == "ceiling":
            return value - 1
        case int():
            return value + 1
        case str() if column == "status":
            return "retired"
        case str():
            return value + "0"
    return "0"


def the_query(world: World) -> Query:
    with world.server.database.read() as session:
        return session.exec(select(Query).where(TABLE.c.name == "visits")).one()


def test_every_column_of_a_query_is_authenticated_or_known_not_to_be() -> None:
    assert set(authenticity.COLUMNS) | LEFT_ALONE == {column.name for column in TABLE.columns}


@pytest.mark.parametrize("column", [*authenticity.COLUMNS, "mac"])
def test_a_query_with_an_altered_column_is_refused_and_nothing_is_drawn(
    visits: World, column: str
) -> None:
    second = {**SITES, "name": "second"}
    datasets.register(visits.server, OPERATOR, DatasetRequest.model_validate(second))
    held = visits.ask("ines").view
    row = the_query(visits)
    before = getattr(row, column)
    taken = visits.streams.taken
    alter(visits, column, other(row, column))
    with visits.server.database.read() as session, pytest.raises(IntegrityViolation):
        session.exec(select(Query)).all()
    if column not in ("name", "folded"):
        for act in (
            lambda: visits.ask("pia"),
            lambda: visits.ask("ines"),
            lambda: queries.show(visits.server, OPERATOR, "visits"),
            lambda: queries.retire(visits.server, OPERATOR, "visits"),
            lambda: visits.push(),
        ):
            with pytest.raises(IntegrityViolation, match="was altered outside of this server"):
                act()
    assert visits.streams.taken == taken
    with visits.server.database.write() as session:
        statement = update(TABLE).values({column: before}).where(TABLE.c.id == row.id)
        session.connection().execute(statement)
    assert (visits.ask("ines").view.values == held.values).all()


def test_a_query_under_the_mac_of_another_or_under_none_is_refused(visits: World) -> None:
    visits.push("other", levels={"public": {"epsilon": 0.01}})
    with visits.server.database.read() as session:
        foreign = session.exec(select(Query.mac).where(TABLE.c.name == "other")).one()
    for value in (foreign, None, b""):
        alter(visits, "mac", value)
        with pytest.raises(IntegrityViolation):
            visits.ask("pia")


def test_whatever_the_server_changes_of_a_query_is_signed_again(visits: World) -> None:
    visits.ask("pia")
    finer = {"levels": {"internal": {"epsilon": 1}}, "values": [120, 7, 0]}
    queries.change(visits.server, OPERATOR, "visits", LevelsChange.model_validate(finer))
    tiers.create(visits.server, OPERATOR, TierSpec(name="between", above="public"))
    visits.ask("ines", epsilon=0.9)
    assert exposure.of(visits.server, OPERATOR, ["ines"], "sites").queries
    queries.retire(visits.server, OPERATOR, "visits")
    assert the_query(visits).status == "retired"


def test_only_an_upgrade_from_before_signs_what_is_there(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    alter(visits, "mac", None)
    home.upgrade(visits.server.settings)
    with pytest.raises(IntegrityViolation):
        visits.ask("pia")
    monkeypatch.setattr(migrate, "upgrade", lambda *_, **__: ("0006", migrate.head()))
    home.upgrade(visits.server.settings)
    assert visits.ask("pia").first
