"""Test a stream as it would be opened.

What is refused, what is charged, and every other structure.
"""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.services.computations.stream_quotes import (
    StreamTerms,
    calibrate_and_price_stream,
    quote_stream,
)
from penstock.services.ledger.charges import Accounts, accounts_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.streams import StreamRequest

TERMS = StreamTerms("sites", 1, 1e-6, steps=1, most=10)
STREAM: dict[str, Any] = {
    "name": "stream",
    "dataset": "sites",
    "mechanism": "gaussian",
    "length": 64,
    "max_steps_per_unit": 1,
    "levels": VISITS["levels"],
}


@pytest.fixture
def accounts(world: World) -> Accounts:
    with world.server.database.read() as session:
        return accounts_of(session, dataset_by_name(session, "sites"))


def request(**changes: object) -> StreamRequest:
    return StreamRequest.model_validate({**STREAM, **changes})


def test_more_trusted_tiers_have_rungs_with_less_noise(accounts: Accounts) -> None:
    shape, nodes, quote = calibrate_and_price_stream(request(), TERMS, accounts)
    assert shape.length == 64
    assert nodes.sensitivity.linf == 1
    rungs = [quote.rungs[name] for name in ("public", "partner", "internal")]
    assert rungs == sorted(rungs, reverse=True)
    assert len(quote.charges) == 3


def test_an_element_may_have_as_many_numbers_as_the_server_allows(accounts: Accounts) -> None:
    calibrate_and_price_stream(request(dimension=10), TERMS, accounts)
    with pytest.raises(InvalidInput, match="has 11 numbers; this server allows 10") as refusal:
        calibrate_and_price_stream(request(dimension=11), TERMS, accounts)
    assert refusal.value.errors[0][0] == "/dimension"


def test_the_structure_that_is_opened_is_marked_among_all(accounts: Accounts) -> None:
    view = quote_stream(request(structure="binary"), TERMS, accounts, None).view
    (chosen,) = [option for option in view.structures if option.chosen]
    assert chosen.structure == "binary"
    assert [option for option in view.structures if option.least_mean]
    assert [option for option in view.structures if option.least_largest]
    assert {option.structure for option in view.structures} >= {"binary", "smooth_binary"}
    assert view.judged_steps == 64


def test_whatever_is_offered_can_be_asked_for(accounts: Accounts) -> None:
    view = quote_stream(request(), TERMS, accounts, None).view
    offered = [option for option in view.structures if option.request is not None]
    assert len(offered) > 3
    for option in offered:
        wish = option.request or {}
        again = quote_stream(request(**{"k": None, **wish}), TERMS, accounts, None).view
        (chosen,) = [other for other in again.structures if other.chosen]
        assert (chosen.structure, chosen.settings) == (option.structure, option.settings)


def test_a_unit_in_more_steps_costs_more(accounts: Accounts) -> None:
    once = calibrate_and_price_stream(request(), TERMS, accounts)[1]
    twice = calibrate_and_price_stream(
        request(max_steps_per_unit=2), replace(TERMS, steps=2), accounts
    )[1]
    assert twice.sensitivity.l2_squared > once.sensitivity.l2_squared
