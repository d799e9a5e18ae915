"""Test that verification holds levels to what was paid for them, and no further."""

import pytest
from sqlalchemy import text
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange
from penstock.services.verification.verification import verify


def move(world: World, **levels: object) -> None:
    wanted = LevelsChange.model_validate({"levels": levels})
    queries.change(world.server, OPERATOR, "visits", wanted)


def test_a_level_that_was_lowered_stays_paid_for(visits: World) -> None:
    move(visits, public={"epsilon": 0.05})
    assert verify(visits.server, OPERATOR).problems == []


@pytest.mark.only("sqlite")
def test_a_raise_whose_charge_is_gone_was_not_paid_for(visits: World) -> None:
    move(visits, public={"epsilon": 0.12})
    assert verify(visits.server, OPERATOR).problems == []
    with visits.server.database.write_unwatched() as session:
        connection = session.connection()
        connection.execute(text('DROP TRIGGER "append_only_charge_delete"'))
        last = "SELECT max(id) FROM charge WHERE tier_id = 1"
        connection.execute(text(f"DELETE FROM charge WHERE id = ({last})"))  # noqa: S608 - ours
    problems = verify(visits.server, OPERATOR).problems
    assert "a level of 'visits' for 'public' was not charged" in problems
