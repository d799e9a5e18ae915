"""Provide changes that are events of the log, and a webhook that is told of all of them."""

from typing import get_args

from tests.unit.services.webhook.receiver import with_webhook
from tests.unit.worlds import World

from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.users import UserChange
from penstock.services.webhook import log_events, log_reading

EVENTS = " ".join(get_args(log_events.LogEventName))


def telling(world: World) -> World:
    """Return a world whose webhook is told of all that the log has from now on."""
    log_reading.read_on(world.server)
    return with_webhook(world, "https://example.org/", EVENTS)


def grant(world: World, tier: str, epsilon: float) -> None:
    change = DatasetChange.model_validate({"budgets": {tier: {"epsilon": epsilon}}})
    budgets.change(world.server, OPERATOR, "sites", change)


def clear(world: World, name: str, tier: str | None) -> None:
    change = UserChange.model_validate({"clearance": tier})
    users.change(world.server, OPERATOR, name, change)
