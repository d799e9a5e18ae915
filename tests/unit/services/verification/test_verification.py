"""Test that what was altered in the database is found by holding it to the log."""

import pytest
from sqlalchemy import text
from tests.unit.worlds import World

from penstock.persistence.append_only import HISTORY
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tokens, users
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.verification.verification import verify


@pytest.fixture
def early(visits: World) -> World:
    """Release her level to pia."""
    visits.ask("pia")
    return visits


def test_what_fits_has_no_problems(early: World) -> None:
    found = verify(early.server, OPERATOR)
    assert (found.problems, found.hand_outs) == ([], 1)
    listed = events.listing(early.server, early.person("otto"), Window()).items
    assert found.size == len(listed)


def test_whatever_admins_change_is_what_the_log_says(early: World) -> None:
    server = early.server
    tier_changes.create(server, OPERATOR, TierSpec(name="between", above="public"))
    tier_changes.create(server, OPERATOR, TierSpec(name="brief", above="internal"))
    tier_changes.delete(server, OPERATOR, "brief")
    tier_changes.create(server, OPERATOR, TierSpec(name="brief", above="internal"))
    users.change(server, OPERATOR, "pia", UserChange(clearance="between"))
    users.change(server, OPERATOR, "paul", UserChange(clearance=None, roles=["auditor"]))
    larger = {"budgets": {"internal": {"epsilon": 5}, "brief": {"epsilon": 5}}}
    budgets.change(server, OPERATOR, "sites", DatasetChange.model_validate(larger))
    issued = tokens.issue(server, OPERATOR, "pia", TokenSpec())
    tokens.revoke(server, OPERATOR, "pia", issued.prefix)
    users.disable(server, OPERATOR, "ines")
    early.push("second", share=0.01, levels=None)
    early.ask("pia", "second")
    assert verify(server, OPERATOR).problems == []


TAMPERED = [
    ("UPDATE leaf SET bytes = bytes || ' ' WHERE id = 3", "is not what its hash says"),
    ("UPDATE leaf SET actor = 'nobody' WHERE id = 3", "columns beside it"),
    ("UPDATE tree_node SET hash = zeroblob(32) WHERE id = 2", "is not that of its leaves"),
    ("DELETE FROM tree_node WHERE id = 2", "nodes of the tree are missing"),
    ("UPDATE checkpoint SET root = zeroblob(32) WHERE id = 2", "has another root"),
    ("UPDATE checkpoint SET note = replace(note, 'T', 'U') WHERE id = 2", "is not signed"),
    ("DELETE FROM checkpoint WHERE size > 5", "the newest checkpoint is of 5"),
    ('DELETE FROM "grant"', "no hand-out in the table has"),
    ('UPDATE "grant" SET user_id = 2', "another release or reader"),
    ("UPDATE release SET ciphertext = zeroblob(200) WHERE seq = 1", "release"),
    ('UPDATE "grant" SET tier_id = 2', "another release or reader"),
    ("UPDATE tier SET rank = 25 WHERE name = 'public'", "the tiers are not"),
    ("UPDATE user SET admin = 1 WHERE name = 'pia'", "users or their roles"),
    ("UPDATE user SET disabled_at = NULL WHERE name = 'away'", "the disabled users are not"),
    ("UPDATE clearance SET tier_id = 3 WHERE user_id = 1", "the clearances are not"),
    ("DELETE FROM clearance WHERE user_id = 1", "the clearances are not"),
    ("UPDATE dataset SET delta = 1e-3", "the datasets are not"),
    ("UPDATE tier_budget SET epsilon = 9 WHERE tier_id = 3", "the budgets are not"),
    ("UPDATE tier_budget SET limit_loss = limit_loss * 2 WHERE tier_id = 3", "not that of its"),
    ('UPDATE charge SET "order" = "order" + 1', "an account changed its order"),
    ("UPDATE query_level SET rung = rung - 1 WHERE tier_id = 1", "the levels are not"),
    ("DELETE FROM charge WHERE tier_id = 1", "was not charged"),
    ("UPDATE charge SET loss_total = loss WHERE seq = 1", "do not add up"),
    ("UPDATE charge SET loss = loss - 1, loss_total = loss_total - 1", "than the witness saw"),
    ("UPDATE token SET scopes = 'analyst,admin'", "the tokens are not"),
    ("UPDATE token SET revoked_at = NULL", "is revoked in the log"),
]


@pytest.mark.only("sqlite")
@pytest.mark.parametrize(("statement", "says"), TAMPERED)
def test_what_was_altered_is_found(early: World, statement: str, says: str) -> None:
    users.create(early.server, OPERATOR, UserSpec(name="away", roles=["analyst"]))
    tokens.issue(early.server, OPERATOR, "away", TokenSpec())
    users.disable(early.server, OPERATOR, "away")
    early.push("second", share=0.01, levels=None)
    with early.server.database.write_unwatched() as session:
        connection = session.connection()
        for table in HISTORY:
            for event in ("update", "delete"):
                connection.execute(text(f'DROP TRIGGER "append_only_{table}_{event}"'))
        connection.execute(text(statement))
    problems = verify(early.server, OPERATOR).problems
    assert any(says in problem for problem in problems), problems
