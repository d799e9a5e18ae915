"""Test that a message holds what its receiver may know, and is signed."""

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.services.requests.requesting import PURPOSE, ask, decide
from tests.unit.services.webhook.receiver import SECRET, with_webhook
from tests.unit.worlds import World

from penstock.services.requests import comments
from penstock.services.schemas.requests.specs import CommentRequest
from penstock.services.webhook import messages, outbox


@pytest.fixture
def told(stays: World) -> World:
    return with_webhook(stays, "https://example.org/")


def bodies(world: World) -> list[dict[str, Any]]:
    """Return the fields of all messages that are due, as they are claimed."""
    claims = [outbox.claim(world.server, number) for number in outbox.due(world.server)]
    return [json.loads(messages.body_of(world.server, claim)) for claim in claims if claim]


def test_a_message_of_a_request_holds_where_to_look(told: World) -> None:
    view = ask(told)
    (body,) = bodies(told)
    assert body.pop("delivery")
    assert body == {
        "event": "request.opened",
        "request": view.id,
        "state": "open",
        "dataset": "stays",
        "tiers": ["internal"],
        "query": None,
        "at": "2026-01-01T00:00:00Z",
    }


def test_a_message_of_an_approval_names_the_query(told: World) -> None:
    view = ask(told)
    bodies(told)
    levels = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}
    decide(told, "ada", view, "approve", levels=levels, name="towns")
    (body,) = bodies(told)
    assert (body["event"], body["state"], body["query"]) == ("request.decided", "approved", "towns")
    assert (body["request"], body["tiers"]) == (view.id, ["public", "partner", "internal"])


def test_a_message_holds_nothing_that_its_requester_is_not_shown(told: World) -> None:
    """The receiver may pass it on to them, and may itself have no clearance."""
    view = ask(told, "pia", levels={"public": {"epsilon": 0.1}}, where=None)
    levels = {"internal": {"epsilon": 0.5}}
    comments.comment(told.server, told.person("ada"), view.id or "", _comment("Not for all."))
    decide(told, "ada", view, "approve", levels=levels, name="kept above", comment="See above.")
    sent = bodies(told)
    assert [body["state"] for body in sent] == ["open", "declined"]
    assert sent[-1]["query"] is None
    assert sent[-1]["tiers"] == ["public"]
    text = json.dumps(sent)
    for word in ("kept above", "internal", PURPOSE, "Not for all.", "See above.", "town", "pia"):
        assert word not in text


def test_a_tier_above_the_requester_is_not_named(told: World) -> None:
    view = ask(told, "pia", levels={"public": {"epsilon": 0.1}})
    bodies(told)
    levels = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}
    decide(told, "ada", view, "approve", levels=levels)
    (body,) = bodies(told)
    assert (body["query"], body["tiers"]) == ("by_town", ["public"])


def test_a_share_of_every_budget_names_no_tier(told: World) -> None:
    view = ask(told, levels=None, share=0.05)
    decide(told, "ada", view, "decline")
    assert [(body["state"], body["tiers"]) for body in bodies(told)] == [
        ("open", []),
        ("declined", []),
    ]


def test_the_signature_is_of_the_time_and_the_body(told: World) -> None:
    ask(told)
    (number,) = outbox.due(told.server)
    claim = outbox.claim(told.server, number)
    assert claim is not None
    now = datetime(2026, 1, 2, tzinfo=UTC)
    headers = messages.headers_of(SECRET, claim, b"{}", now)
    mac = hmac.new(SECRET.encode(), b"1767312000.{}", hashlib.sha256).hexdigest()
    assert headers == {
        "Penstock-Delivery": claim.public_id,
        "Penstock-Signature": f"t=1767312000,v1={mac}",
    }


def test_while_a_secret_is_replaced_either_proves_a_message(told: World) -> None:
    ask(told)
    (number,) = outbox.due(told.server)
    claim = outbox.claim(told.server, number)
    assert claim is not None
    now = datetime(2026, 1, 2, tzinfo=UTC)
    new, old = "n" * 32, "o" * 32
    signed = messages.headers_of(f"{new}\n{old}", claim, b"{}", now)[messages.SIGNATURE]
    moment, *signatures = signed.split(",")
    assert signatures == [
        messages.headers_of(secret, claim, b"{}", now)[messages.SIGNATURE].split(",")[1]
        for secret in (new, old)
    ]
    assert moment == "t=1767312000"


def _comment(text: str) -> CommentRequest:
    return CommentRequest(comment=text)
