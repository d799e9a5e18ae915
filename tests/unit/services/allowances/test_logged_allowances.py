"""Test that allowances, and what was spent of them, are compared with the log."""

import json

import pytest
from sqlmodel import select
from tests.unit.services.allowances.asking import ask, give
from tests.unit.services.verification.tampered import alter
from tests.unit.worlds import World

from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.verification.verification import verify


@pytest.fixture
def asked(stays: World) -> World:
    give(stays, "partner", 1.0, "paul")
    ask(stays, "paul", "mine")
    give(stays, epsilon=2.0)
    allowances.take_back(stays.server, OPERATOR, "stays", "partner")
    return stays


def test_the_log_says_what_was_given_changed_spent_and_taken_back(asked: World) -> None:
    with asked.server.database.read() as session:
        leaves = session.exec(select(Leaf).order_by(Leaf.id)).all()  # type: ignore[arg-type]  # a column
    fields = [json.loads(leaf.bytes) for leaf in leaves]
    given = [
        (leaf["tier"], leaf.get("epsilon"), leaf.get("users"))
        for leaf in fields
        if leaf["kind"] == "allowance"
    ]
    assert given == [
        ("partner", 1.0, ["paul"]),
        ("partner", 2.0, None),
        ("partner", None, None),
    ]
    (query,) = [leaf for leaf in fields if leaf["kind"] == "query"]
    assert (query["actor"], query["query"]) == ("paul", "mine@partner,2")
    assert {**query["allowance"], "loss": 0, "failure": 0} == {
        "tier": "partner",
        "by": "paul",
        "loss": 0,
        "failure": 0,
    }
    assert verify(asked.server, OPERATOR).problems == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE allowance SET epsilon = 9 WHERE version = 1", "the allowances are not those"),
        ("UPDATE allowance SET limit_loss = limit_loss * 2 WHERE version = 2", "is not its own"),
        ("UPDATE allowance SET users = NULL WHERE version = 1", "the allowances are not those"),
        ("DELETE FROM allowance WHERE version = 3", "the allowances are not those"),
        ("UPDATE allowance_charge SET loss = 1", "does not add up"),
        ("DELETE FROM allowance_charge", "the queries under allowances are not those"),
    ],
)
def test_what_was_altered_shows(asked: World, statement: str, problem: str) -> None:
    alter(asked, statement)
    assert any(problem in line for line in verify(asked.server, OPERATOR).problems)
