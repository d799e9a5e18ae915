"""Test who finds the rows of a request, and which of them count."""

import pytest
from tests.unit.services.requests.requesting import ask, decide, identifier
from tests.unit.worlds import World

from penstock.errors import Conflict, NotFound
from penstock.persistence.tables import Query
from penstock.services.requests import asking, rows


def test_a_row_is_its_senders_and_the_admins(stays: World) -> None:
    view = ask(stays)
    with stays.server.database.read() as session:
        for name in ("ines", "ada"):
            row = rows.asker_row(session, stays.person(name), identifier(view))
            assert rows.name_of(session, row) == "ines"
        for name in ("iris", "otto"):
            with pytest.raises(NotFound):
                rows.asker_row(session, stays.person(name), identifier(view))


def test_only_what_was_not_withdrawn_is_active(stays: World) -> None:
    first, second = ask(stays, "ines"), ask(stays, "iris")
    asking.withdraw(stays.server, stays.person("ines"), identifier(first))
    with stays.server.database.read() as session:
        row = rows.asker_row(session, stays.person("ada"), identifier(second))
        assert rows.askers_of(session, row.request_id)[-1].id == row.id
        active = rows.active_askers(session, row.request_id)
        assert [rows.name_of(session, asker) for asker in active] == ["iris"]
        rows.require_undecided(session, row.request_id)


def test_a_query_is_seen_by_the_tier_that_its_asker_holds(stays: World) -> None:
    view, other = ask(stays), ask(stays, "pia", levels={"public": {"epsilon": 0.1}})
    decide(stays, "ada", view, "approve", levels={"internal": {"epsilon": 0.5}})
    with stays.server.database.read() as session:
        askers = [
            rows.asker_row(session, stays.person("ada"), identifier(each)) for each in (view, other)
        ]
        decision = rows.decision_of(session, askers[0].request_id)
        assert decision is not None
        query = session.get(Query, decision.query_id)
        assert query is not None
        assert [rows.sees(session, asker, query) for asker in askers] == [True, False]
        with pytest.raises(Conflict, match="approved already"):
            rows.require_undecided(session, askers[0].request_id)
