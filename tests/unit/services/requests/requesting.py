"""Provide a dataset of stays, two analysts at its tiers, and the requests that they make."""

from pathlib import Path
from typing import Any

from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.worlds import World

from penstock.connectors.planning.refusals import checked
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events
from penstock.services.datasets import datasets
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.requests import asking, decisions, views
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.schemas.requests.specs import AskRequest, DecisionRequest
from penstock.services.schemas.requests.views import RequestView
from penstock.services.verification import verification

PURPOSE = "The yearly report on towns"
LEVELS = {"internal": {"epsilon": 0.5}}


def furnish(world: World, folder: Path) -> World:
    """Register the stays, and add a second analyst and a second admin, who is an analyst too."""
    path = folder / "stays.csv"
    path.write_text(ROWS)
    request = {**STAYS, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(request))
    spec = UserSpec(name="iris", roles=["analyst"], clearance="internal")
    users.create(world.server, OPERATOR, spec)
    both = UserSpec(name="bea", roles=["analyst", "admin"], clearance="internal")
    users.create(world.server, OPERATOR, both)
    return world


def sent(**changes: Any) -> Any:
    """Return a request for a count of stays by town."""
    request = {**BY_TOWN, "levels": LEVELS, "purpose": PURPOSE, **changes}
    return checked(AskRequest, {name: part for name, part in request.items() if part is not None})


def ask(world: World, name: str = "ines", /, **changes: Any) -> RequestView:
    return asking.ask(world.server, world.person(name), sent(**changes))


def identifier(view: RequestView) -> str:
    assert view.id is not None
    return view.id


def decide(
    world: World, name: str, view: RequestView, decision: str, /, **more: Any
) -> RequestView:
    request = DecisionRequest.model_validate({"decision": decision, **more})
    return decisions.decide(world.server, world.person(name), identifier(view), request)


def shown(world: World, name: str, view: RequestView) -> RequestView:
    return views.show(world.server, world.person(name), identifier(view))


def listed(world: World, name: str, state: Any = None) -> list[RequestView]:
    return views.listing(world.server, world.person(name), Window(), state).items


def leaves(world: World) -> list[dict[str, Any]]:
    """Return the leaves of requests, oldest first."""
    page = events.listing(world.server, world.person("otto"), Window(limit=1000))
    return [event.leaf for event in page.items if event.leaf["kind"] == "request"]


def problems(world: World) -> list[str]:
    """Return what an audit has to say."""
    return verification.verify(world.server, OPERATOR).problems
