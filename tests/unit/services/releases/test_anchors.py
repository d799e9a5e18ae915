"""Test that the first draw of a query is stored once, and only beside the row that was charged."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select
from tests.unit.statements import statements
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables.queries import Query, Release
from penstock.services.queries import registration

pytestmark = pytest.mark.each_database


@pytest.fixture
def before_the_anchor(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return how something is done once, between the next charge and its anchor."""
    product = registration._anchor

    def meanwhile(act: Callable[[], object]) -> None:
        def anchor(*arguments: Any) -> Query:
            monkeypatch.setattr(registration, "_anchor", product)
            act()
            return product(*arguments)

        monkeypatch.setattr(registration, "_anchor", anchor)

    return meanwhile


def drawn(world: World) -> list[tuple[str, int, int]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Query, Release).join(Release)).all()
    return [(query.status, query.seq, release.seq) for query, release in rows]


def test_an_anchor_is_stored_without_reading_the_row_again(world: World) -> None:
    with statements() as seen:
        world.push()
    assert [text for text in seen if "SELECT query.id, query.name" in text.replace('"', "")] == []
    assert drawn(world) == [("active", 0, 0)]


def test_a_row_that_was_altered_since_the_charge_gets_no_anchor(
    world: World, before_the_anchor: Callable[[Callable[[], object]], None]
) -> None:
    def alter() -> None:
        with world.server.database.write() as session:
            session.connection().execute(text('UPDATE "query" SET max_levels = 7'))
            session.connection().execute(text('UPDATE "query" SET mac = :mac'), {"mac": bytes(32)})

    before_the_anchor(alter)
    with pytest.raises(IntegrityViolation, match="altered outside"):
        world.push()
    assert drawn(world) == []


def test_a_row_that_was_signed_again_since_the_charge_gets_its_anchor(
    world: World, before_the_anchor: Callable[[Callable[[], object]], None]
) -> None:
    def sign_again() -> None:
        with world.server.database.write() as session:
            query = session.exec(select(Query)).one()
            query.mismatches = 1
            session.add(query)

    before_the_anchor(sign_again)
    world.push()
    assert drawn(world) == [("active", 0, 0)]
    with world.server.database.read() as session:
        assert session.exec(select(Query)).one().mismatches == 1
    assert world.ask("ines").first


def test_of_two_that_finish_one_registration_only_the_first_draws(
    world: World, before_the_anchor: Callable[[Callable[[], object]], None]
) -> None:
    before_the_anchor(world.push)
    with pytest.raises(Conflict, match="registered by another request"):
        world.push()
    assert drawn(world) == [("active", 0, 0)]
