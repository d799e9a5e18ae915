"""Test that the tables of requests are held to the log."""

import pytest
from tests.unit.services.requests.requesting import ask, decide, leaves, problems
from tests.unit.services.verification.tampered import alter
from tests.unit.worlds import World

from penstock.services.requests import comments
from penstock.services.schemas.requests.specs import CommentRequest


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM request_comment",
        "DELETE FROM request_decision",
        "UPDATE asker SET purpose = 'another'",
        "UPDATE request_decision SET outcome = 'declined', query_id = NULL, spec = NULL",
        "UPDATE request_comment SET comment = 'another'",
        "INSERT INTO withdrawal (asker_id, at) VALUES (1, '2026-01-01 00:00:00.000000')",
    ],
)
def test_what_was_changed_outside_of_the_server_is_named(stays: World, change: str) -> None:
    view = ask(stays)
    request = CommentRequest(comment="Which year?")
    comments.comment(stays.server, stays.person("ada"), view.id or "", request)
    decide(stays, "ada", view, "approve")
    assert problems(stays) == []
    alter(stays, change)
    assert any("not those of the log" in problem for problem in problems(stays))


def test_the_leaf_of_a_request_has_what_its_sender_had_read(stays: World) -> None:
    decide(stays, "ada", ask(stays), "approve")
    stays.ask("ines", "by_town")
    ask(stays, name="second", where=[{"column": "town", "op": "=", "value": "north"}])
    assert list(leaves(stays)[-1]["actor_exposure"]) == ["by_town"]
