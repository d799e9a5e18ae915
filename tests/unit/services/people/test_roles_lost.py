"""Test roles that are taken away while what they allowed is still worked on."""

from collections.abc import Callable

import pytest
from sqlmodel import select
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World

from penstock.connectors.progress import Progress
from penstock.errors import Forbidden
from penstock.persistence.tables import Charge, Dataset, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.people import users
from penstock.services.queries import registration
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
)

Loss = Callable[[World], object]


def demoted(world: World) -> None:
    users.change(world.server, OPERATOR, "ada", UserChange(roles=["auditor"]))


def shut_out(world: World) -> None:
    users.disable(world.server, OPERATOR, "ada")


def stored(world: World) -> list[int]:
    with world.server.database.read() as session:
        return [len(session.exec(select(table)).all()) for table in (Dataset, Query, Charge)]


def losing(world: World, loss: Loss) -> Progress:
    """Return what takes the role away as soon as the work has begun."""
    heard: list[str] = []

    def told(stage: str, percent: int | None = None, /) -> None:
        if not heard:
            loss(world)
        heard.append(stage)

    return told


@pytest.mark.parametrize("loss", [demoted, shut_out])
def test_a_query_of_somebody_who_is_no_admin_any_more_is_not_charged(
    world: World, loss: Loss
) -> None:
    ada, before = world.person("ada"), stored(world)
    request = PushedVectorRequest.model_validate(VISITS)
    with pytest.raises(Forbidden, match="which ada has lost"):
        registration.register(world.server, ada, request, losing(world, loss))
    assert stored(world) == before


@pytest.mark.parametrize("loss", [demoted, shut_out])
def test_a_dataset_of_somebody_who_is_no_admin_any_more_is_not_registered(
    world: World, loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, before = world.person("ada"), stored(world)
    request = DatasetRequest.model_validate({**SITES, "name": "other"})
    known = datasets._examined

    def examined(*given: object) -> object:
        loss(world)
        return known(*given)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(datasets, "_examined", examined)
    with pytest.raises(Forbidden, match="which ada has lost"):
        datasets.register(world.server, ada, request)
    assert stored(world) == before


def test_whoever_keeps_the_role_goes_on(world: World) -> None:
    def other_role(given: World) -> None:
        users.change(given.server, OPERATOR, "ada", UserChange(roles=["admin", "auditor"]))

    ada = world.person("ada")
    request = PushedVectorRequest.model_validate(VISITS)
    assert (
        registration.register(world.server, ada, request, losing(world, other_role)).name
        == "visits"
    )
