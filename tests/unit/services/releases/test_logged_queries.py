"""Test that retirements, mismatches and numbers of releases are those of the log."""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.releases.logged_queries import LoggedQueries


def test_a_retirement_is_missed_and_one_that_never_was_is_told(world: World) -> None:
    world.push()
    world.push("second", share=0.01, levels=None)
    queries.retire(world.server, OPERATOR, "second")
    whole = logged.leaves(world)
    assert logged.differences(world, LoggedQueries, whole) == []
    kept = [leaf for leaf in whole if not leaf.get("retired")]
    expected = ["the retired queries are not those of the log"]
    assert logged.differences(world, LoggedQueries, kept) == expected
    more = [*whole, {"kind": "query", "query": "visits", "retired": True}]
    assert logged.differences(world, LoggedQueries, more) == expected


def test_shredding_retires_all_queries_of_a_version(world: World) -> None:
    world.push()
    shredded = {"kind": "key", "dataset": "sites", "version": 1, "shredded": True}
    expected = ["the retired queries are not those of the log"]
    assert logged.differences(world, LoggedQueries, [*logged.leaves(world), shredded]) == expected
    other = {**shredded, "version": 2}
    assert logged.differences(world, LoggedQueries, [*logged.leaves(world), other]) == []


def test_mismatches_are_those_that_were_counted(world: World) -> None:
    world.push()
    mismatch = {"kind": "query", "query": "visits", "mismatches": 2}
    assert logged.differences(world, LoggedQueries, [*logged.leaves(world), mismatch]) == [
        "the counts of refused exact values are not those of the log"
    ]
