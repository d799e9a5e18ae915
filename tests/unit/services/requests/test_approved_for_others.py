"""Test that a request is declined for those who do not see the query of its approval."""

from typing import Any

import pytest
from tests.unit.services.requests.requesting import (
    LEVELS,
    ask,
    decide,
    identifier,
    listed,
    problems,
    shown,
)
from tests.unit.worlds import World

from penstock.errors import Conflict
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.requests import asking, views
from penstock.services.schemas.queries import LevelsChange

pytestmark = pytest.mark.each_database


def test_an_approval_at_levels_above_the_asker_is_declined_for_them(stays: World) -> None:
    mine: dict[str, Any] = {"levels": {"public": {"epsilon": 0.1}}}
    view, also = ask(stays, "pia", **mine), ask(stays, "ines")
    decide(stays, "ada", view, "approve", levels=LEVELS, name="kept above", comment="Not public.")
    own = shown(stays, "pia", view)
    assert (own.state, own.query, own.name) == ("declined", None, "by_town")
    assert own.problem == views.UNANSWERED
    assert [comment.comment for comment in own.comments] == ["Not public."]
    assert "kept above" not in str(own)
    assert [listed(stays, "pia", state) for state in ("approved", "open")] == [[], []]
    assert listed(stays, "pia", "declined") == [own]
    with pytest.raises(Conflict, match="declined already, by ada"):
        asking.withdraw(stays.server, stays.person("pia"), identifier(view))
    whole = shown(stays, "ada", view)
    assert (whole.state, whole.query) == ("approved", "kept above")
    assert [asker.sees_query for asker in whole.askers] == [False, True]
    assert shown(stays, "ines", also).query == "kept above"
    assert listed(stays, "ines", "approved")


def test_what_is_declined_may_be_requested_again_whether_it_was_or_not(stays: World) -> None:
    """One was declined, and one approved for others: their sender cannot tell which."""
    levels: dict[str, Any] = {"levels": {"public": {"epsilon": 0.1}}}
    north: dict[str, Any] = {**levels, "where": [{"column": "town", "op": "=", "value": "north"}]}
    first, second = ask(stays, "pia", **levels), ask(stays, "pia", **north)
    decide(stays, "ada", first, "approve", levels=LEVELS, comment="No.")
    decide(stays, "ada", second, "decline", comment="No.")
    kept = ("state", "query", "problem", "comments", "decided_by", "preview")
    both = [vars(shown(stays, "pia", view)) for view in (first, second)]
    assert [both[0][name] for name in kept] == [both[1][name] for name in kept]
    again = [ask(stays, "pia", **changes) for changes in (levels, north)]
    assert [view.state for view in again] == ["open", "open"]
    assert len({identifier(view) for view in (first, second, *again)}) == 4
    with pytest.raises(Conflict, match="pia cannot see: give their tier a level"):
        decide(stays, "ada", again[0], "approve")
    raised = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.1}}})
    queries.change(stays.server, OPERATOR, "by_town", raised)
    assert shown(stays, "pia", first).state == "approved"
    assert shown(stays, "pia", again[0]).state == "answered"
    assert problems(stays) == []
