"""Test that a worker that knows a query sees every change of it with the next request."""

from collections.abc import Callable

import pytest
from sqlmodel import Session
from tests.unit.worlds import World

from penstock.errors import ClearanceTooLow, Conflict, NotFound
from penstock.persistence.row_authentication import columns, mac
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Query, Tier
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.queries import level_changes, queries
from penstock.services.releases import known_queries
from penstock.services.releases.lookups import look_up
from penstock.services.repository.people import user_by_name
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import LevelsChange

pytestmark = pytest.mark.each_database


def known(world: World, name: str = "visits") -> known_queries.KnownQuery | None:
    return known_queries.kept(world.server, world.server.kept.edition, name)


def test_a_query_is_known_from_its_first_release_on(visits: World) -> None:
    assert known(visits) is None
    visits.ask("pia")
    first = known(visits)
    assert first is not None
    visits.ask("ines")
    assert known(visits) is first


def test_known_rungs_are_those_of_the_tables(visits: World) -> None:
    visits.ask("pia")
    query = known(visits)
    assert query is not None
    rungs = [query.allowed_rung(tier) for tier in query.tiers]
    assert None not in rungs
    assert rungs == sorted(rungs, key=lambda rung: -(rung or 0))
    assert [tier.name for tier, _ in query.levels(query.tiers[1])] == ["public", "partner"]
    assert query.given >= set(rungs)
    assert query.tier_named("PARTNER").name == "partner"
    with pytest.raises(NotFound, match="There is no tier 'nobody'"):
        query.tier_named("nobody")


def demote(world: World) -> None:
    users.change(world.server, OPERATOR, "ines", UserChange(clearance="public"))


def take_clearance(world: World) -> None:
    users.change(world.server, OPERATOR, "ines", UserChange(clearance=None))


def lower(world: World) -> None:
    request = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.26}}})
    level_changes.change(world.server, OPERATOR, "visits", request)


def retire(world: World) -> None:
    queries.retire(world.server, OPERATOR, "visits")


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (demote, ClearanceTooLow),
        (take_clearance, NotFound),
        (lower, ClearanceTooLow),
        (retire, Conflict),
    ],
)
def test_what_is_taken_away_is_refused_from_its_commit_on(
    visits: World, change: Callable[[World], None], refusal: type[Exception]
) -> None:
    """The worker knew the query and the clearance; the fresh level was never handed out."""
    visits.ask("ines", epsilon=0.3)
    change(visits)
    with pytest.raises(refusal):
        visits.ask("ines", epsilon=0.35)


def test_a_repeat_is_of_what_is_allowed_now(visits: World) -> None:
    """It takes no lock, under which a change would be noticed as well."""
    before = visits.ask("ines").view
    lower(visits)
    now = visits.ask("ines").view
    assert (now.id, now.level.value) != (before.id, before.level.value)
    retire(visits)
    with pytest.raises(Conflict):
        visits.ask("ines")


def test_an_inserted_tier_gives_answers_its_name_at_once(visits: World) -> None:
    visits.ask("ines")
    spec = TierSpec(name="team", above="public")
    tier_changes.create(visits.server, OPERATOR, spec)
    assert visits.ask("ines", tier="team").view.tier == "team"


def test_a_moved_tier_is_where_it_is_now(visits: World) -> None:
    """A tier above the caller's is refused, and given from its move below that on; and back."""
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="team", above="partner"))
    for above, is_given in (("public", True), ("partner", False)):
        visits.ask("paul", tier="public")
        tier_changes.change(visits.server, OPERATOR, "team", TierChange(above=above))
        if is_given:
            assert visits.ask("paul", tier="team").view.tier == "team"
        else:
            with pytest.raises(ClearanceTooLow, match="above the clearance"):
                visits.ask("paul", tier="team")


def test_a_promotion_counts_at_once(visits: World) -> None:
    before = visits.ask("pia").view.level.value
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    assert visits.ask("pia").view.level.value < before


def test_what_is_not_active_is_not_kept(visits: World) -> None:
    retire(visits)
    with pytest.raises(Conflict):
        visits.ask("pia")
    assert known(visits) is None


def test_long_keys_are_not_kept(visits: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_queries, "LONGEST_KEYS", 3)
    visits.ask("pia")
    assert known(visits) is None


def test_rows_of_a_known_query_belong_to_no_open_transaction(visits: World) -> None:
    """They are read by many threads; a row that a session still holds might be loaded again."""
    visits.ask("pia")
    query = known(visits)
    assert query is not None
    rows: list[Query | Dataset | Tier] = [query.query, query.dataset, *query.tiers]
    assert [Session.object_session(row) for row in rows] == [None] * len(rows)


def test_a_row_with_another_seq_is_the_same_but_for_that(visits: World) -> None:
    visits.ask("pia")
    query = known(visits)
    assert query is not None
    before = query.query.model_dump()
    other = known_queries.with_seq(query.query, 41)
    assert {name: getattr(other, name) for name in before} == {**before, "seq": 41}
    assert query.query.model_dump() == before
    assert known_queries.with_seq(query.query, query.query.seq) is query.query
    values = [getattr(other, name) for name in columns("query")]
    for key in visits.server.secrets.of_rows():
        assert query.signed.mac(key, 41) == mac(key, "query", values)


def test_one_look_up_finds_clearance_edition_and_release(visits: World) -> None:
    answer = visits.ask("ines")
    query = known(visits)
    assert query is not None
    rung = query.allowed_rung(query.tiers[-1])
    with visits.server.database.read() as session:
        ines, pia = (required(user_by_name(session, name).id) for name in ("ines", "pia"))
        look = look_up(session, ines, query.query.id, rung)
        other = look_up(session, pia, query.query.id, rung)
        nobody = look_up(session, 10**6, query.query.id, rung)
    assert look.edition == visits.server.kept.edition == other.edition
    assert look.received is not None
    assert look.received.public_id == answer.view.id
    assert look.received.receipt == answer.view.receipt
    assert other.received is None
    assert nobody.clearance == (None, None)
