"""Test that a prepared request runs computations for its caller, with its public numbers alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.services.access.principals import OPERATOR
from penstock.services.computing import Here
from penstock.services.queries.exact_answers import planned
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import PushedVectorRequest, Terms


class Recording(Here):
    """Run computations here, and remember for whom."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[tuple[str, float]] = []

    def run(
        self, person: str, patience: float, function: Callable[..., Any], *given: Any, **named: Any
    ) -> Any:
        self.turns.append((person, patience))
        return function(*given, **named)


def test_a_computation_gets_the_request_without_its_keys(world: World) -> None:
    request = PushedVectorRequest.model_validate(VISITS)
    with world.server.database.read() as session:
        dataset = dataset_by_name(session, request.dataset)
    computing = Recording()
    server = replace(world.server, computing=computing)
    prepared = planned(dataset, request)
    whole = PreparedRequest(server, OPERATOR, 7.0, dataset, request, prepared)

    def count(terms: Terms, public: PreparedQuery, more: int, *, again: int) -> tuple[Any, ...]:
        return terms, public.keys, public.dimension, more, again

    assert prepared.keys is not None
    assert whole.run(count, 1, again=2) == (request, None, prepared.dimension, 1, 2)
    assert computing.turns == [(OPERATOR.name, 7.0)]
