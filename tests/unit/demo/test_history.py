"""Check the actors that the history of the demo leaves in the log."""

from sqlmodel import select

from penstock.demo.cast import NEWCOMERS, READERS, REPORTER
from penstock.persistence.tables import Leaf
from penstock.services.context import Server


def test_the_log_says_that_each_acted_for_themselves(server: Server) -> None:
    with server.database.read() as session:
        leaves = session.exec(select(Leaf)).all()
    actors = {leaf.kind: {leaf.actor} for leaf in leaves}
    for leaf in leaves:
        actors[leaf.kind].add(leaf.actor)
    analysts = {person.name for person in (*READERS, *NEWCOMERS, REPORTER)}
    assert {reader.name for reader in READERS} < actors["release"] < analysts
    assert actors["dataset"] == actors["level"] == actors["budget"] == {"ada"}
    # Retired by one admin's proposal and the other's approval.
    assert actors["query"] == actors["proposal"] == {"ada", "abe"}
    assert actors["tier"] == actors["user"] == {"operator", "ada"}
    assert actors["key"] == {"operator"}
