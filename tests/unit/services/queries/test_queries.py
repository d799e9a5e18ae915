"""Test queries as their callers see them: shown up to one's own tier, listed, and retired."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlmodel import select
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.connectors.connector import ExactAnswer
from penstock.errors import Conflict, Forbidden, IntegrityViolation, NotFound
from penstock.persistence.tables import Leaf, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.queries import exact_answers, queries
from penstock.services.schemas.queries import LevelsChange
from penstock.services.verification.verification import verify


def test_a_registration_shows_what_a_later_look_shows(visits: World) -> None:
    shown = visits.push("other")
    assert shown == queries.show(visits.server, OPERATOR, "other")
    assert [tier.tier for tier in shown.tiers] == ["public", "partner", "internal"]


def test_an_analyst_sees_tiers_up_to_their_own(visits: World) -> None:
    shown = queries.show(visits.server, visits.person("paul"), "visits")
    assert [tier.tier for tier in shown.tiers] == ["public", "partner"]
    assert "levels" not in shown.spec
    assert all(tier.composed is None for tier in shown.tiers)


def test_a_listing_has_what_may_be_seen(visits: World) -> None:
    visits.push("secret", levels={"internal": {"epsilon": 0.25}})
    for name, expected in (("pia", ["visits"]), ("ines", ["visits", "secret"])):
        page = queries.listing(visits.server, visits.person(name), Window(limit=10))
        assert [query.name for query in page.items] == expected


def test_only_admins_retire_and_a_retired_query_gives_nothing_new(visits: World) -> None:
    with pytest.raises(Forbidden):
        queries.retire(visits.server, visits.person("ines"), "visits")
    assert queries.retire(visits.server, OPERATOR, "visits").status == "retired"
    with pytest.raises(Conflict):
        visits.ask("ines")
    with pytest.raises(NotFound):
        queries.retire(visits.server, OPERATOR, "absent")


@pytest.fixture
def named(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world where every reading has a state: of the n-th it is ``state-n``."""
    numbers = itertools.count(1)

    def answered(steps: NDArray[np.int64]) -> ExactAnswer:
        return ExactAnswer(steps, f"state-{next(numbers)}")

    monkeypatch.setattr(exact_answers, "ExactAnswer", answered)
    return world


def states(world: World, name: str | None = None) -> list[str]:
    who = OPERATOR if name is None else world.person(name)
    return queries.show(world.server, who, "visits").read_states


@pytest.mark.each_database
def test_the_state_that_was_read_is_for_admins_and_auditors_alone(named: World) -> None:
    assert named.push().read_states == ["state-1"]
    assert [states(named, name) for name in ("ada", "otto")] == [["state-1"]] * 2
    for name in ("pia", "paul", "ines"):
        assert states(named, name) == []
        page = queries.listing(named.server, named.person(name), Window(limit=10))
        assert [query.read_states for query in page.items] == [[]]
    page = queries.listing(named.server, OPERATOR, Window(limit=10))
    assert [query.read_states for query in page.items] == [["state-1"]]


def test_every_reading_that_was_drawn_from_has_its_state(named: World) -> None:
    """What is sent to raise a level is read twice: to be compared, and to be drawn from."""
    named.push()
    for levels, values, expected in (
        ({"internal": {"epsilon": 0.4}}, None, ["state-1"]),
        ({"internal": {"epsilon": 1}}, [120, 7, 0], ["state-1", "state-3"]),
    ):
        change = LevelsChange.model_validate({"levels": levels, "values": values})
        assert queries.change(named.server, OPERATOR, "visits", change).read_states == expected
    other = {"levels": {"internal": {"epsilon": 2}}, "values": [0, 0, 0]}
    with pytest.raises(Conflict):
        queries.change(named.server, OPERATOR, "visits", LevelsChange.model_validate(other))
    assert states(named) == ["state-1", "state-3"]


def test_a_registration_that_is_finished_later_has_the_state_of_then(
    named: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, named.push)
    assert states(named) == []
    named.push()
    assert states(named) == ["state-1"]


def test_no_leaf_and_no_release_has_the_state(named: World) -> None:
    named.push()
    release = named.ask("ines").view
    assert "state-1" not in repr(release)
    with named.server.database.read() as session:
        assert "state-1" in (session.exec(select(Query)).one().read_states or "")
        leaves = [repr(row.model_dump()) for row in session.exec(select(Leaf)).all()]
    assert leaves
    assert [leaf for leaf in leaves if "state-1" in leaf] == []


@pytest.mark.each_database
def test_a_state_that_was_altered_is_found(named: World) -> None:
    named.push()
    named.ask("ines")
    assert verify(named.server, OPERATOR).problems == []
    with named.server.database.write() as session:
        session.connection().exec_driver_sql("""UPDATE "query" SET read_states = '["state-2"]'""")
    with pytest.raises(IntegrityViolation, match="altered outside"):
        states(named)
    with pytest.raises(IntegrityViolation, match="altered outside"):
        named.ask("pia")
    assert verify(named.server, OPERATOR).problems
