"""Test hand-outs: one line for each user and release, in the order of the log."""

from sqlmodel import select
from tests.unit.worlds import World

from penstock.persistence.row_numbers import required
from penstock.persistence.tables import User
from penstock.services.releases.grants import holding_at, holdings
from penstock.services.repository.queries import query_by_name


def test_a_user_holds_what_they_were_handed_and_nobody_else_does(visits: World) -> None:
    release = visits.ask("ines").view
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        (holding,) = holdings(session)
        rung = holding.release.rung
        own = holding_at(session, visits.person("ines"), query, rung)
        assert own is not None
        assert own.release.public_id == release.id
        assert holding_at(session, visits.person("paul"), query, rung) is None
        assert holding_at(session, visits.person("ines"), query, rung + 1) is None


def test_hand_outs_are_filtered_by_what_is_given(visits: World) -> None:
    visits.ask("pia")
    visits.clock.forward(hours=1)
    middle = visits.clock()
    visits.ask("ines")
    with visits.server.database.read() as session:
        keys = {user.name: required(user.id) for user in session.exec(select(User)).all()}

        def names(**wanted: object) -> list[str]:
            return [row.user.name for row in holdings(session, **wanted)]  # type: ignore[arg-type]  # filters by name

        assert names() == ["pia", "ines"]
        assert names(user_ids=[keys["ines"]]) == ["ines"]
        assert names(since=middle) == ["ines"]
        assert names(until=middle) == ["pia"]
        assert names(limit=1) == ["pia"]
        assert names(user_ids=[]) == []


def test_a_line_of_the_history_has_no_values(visits: World) -> None:
    visits.ask("ines")
    with visits.server.database.read() as session:
        (holding,) = holdings(session)
        item = holding.item()
    assert (item.user, item.query, item.tier) == ("ines", "visits", "internal")
    assert not hasattr(item, "values")
