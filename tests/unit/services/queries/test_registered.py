"""Test what an interrupted run had registered: the same spec, by the same person, and drawn."""

from typing import Any

import pytest
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.services.access.principals import OPERATOR
from penstock.services.queries import registered
from penstock.services.schemas.queries import DatasetRequest, PushedVectorRequest


def asked(**changes: Any) -> PushedVectorRequest:
    return PushedVectorRequest.model_validate({**VISITS, **changes})


def test_the_same_query_by_the_same_person_is_known_again(visits: World) -> None:
    assert registered.query(visits.server, OPERATOR, asked()) == "visits"
    assert registered.query(visits.server, visits.person("ada"), asked()) is None
    assert registered.query(visits.server, OPERATOR, asked(keys=["a", "b", "d"])) is None
    assert registered.query(visits.server, OPERATOR, asked(name="other")) is None


def test_a_query_that_waits_for_its_data_is_not_finished(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, world.push)
    assert registered.query(world.server, OPERATOR, asked()) is None
    world.push()
    assert registered.query(world.server, OPERATOR, asked()) == "visits"


def test_the_same_dataset_is_known_again(world: World) -> None:
    request = DatasetRequest.model_validate(SITES)
    assert registered.dataset(world.server, OPERATOR, request) == "sites"
    assert registered.dataset(world.server, world.person("ada"), request) is None
    other = DatasetRequest.model_validate({**SITES, "delta": 1e-7})
    assert registered.dataset(world.server, OPERATOR, other) is None
