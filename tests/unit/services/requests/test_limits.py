"""Test how much one person may request."""

import pytest
from tests.unit.services.requests.requesting import ask, decide, identifier
from tests.unit.worlds import World

from penstock.errors import Conflict, InvalidInput, QuotaUsedUp
from penstock.services.requests import asking, comments, limits
from penstock.services.schemas.requests.specs import CommentRequest

NORTH = [{"column": "town", "op": "=", "value": "north"}]


def test_open_requests_and_those_of_a_day_are_limited(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OPEN", 1)
    monkeypatch.setattr(limits, "MOST_A_DAY", 2)
    view = ask(stays)
    with pytest.raises(Conflict, match="1 open requests"):
        ask(stays, where=NORTH)
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    view = ask(stays, where=NORTH)
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    with pytest.raises(QuotaUsedUp) as refusal:
        ask(stays)
    assert refusal.value.data["retry_after"] == 24 * 3600
    assert ask(stays, "iris").state == "open"
    stays.clock.forward(hours=25)
    assert ask(stays).state == "open"


def test_a_decided_request_is_not_open_and_comments_count(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OPEN", 1)
    monkeypatch.setattr(limits, "MOST_A_DAY", 3)
    decide(stays, "ada", ask(stays), "decline")
    view = ask(stays)
    request, ines = CommentRequest(comment="One."), stays.person("ines")
    comments.comment(stays.server, ines, identifier(view), request)
    with pytest.raises(QuotaUsedUp):
        comments.comment(stays.server, ines, identifier(view), request)
    comments.comment(stays.server, stays.person("ada"), identifier(view), request)


def test_a_long_spec_is_refused(stays: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LONGEST_SPEC", 20)
    with pytest.raises(InvalidInput, match="at most 20 characters"):
        ask(stays)
