"""Test that whatever an analyst registers costs what it costs an admin, or is refused clearly."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.allowances.asking import BUDGETS
from tests.unit.services.datasets.stays import STAYS
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.connectors.planning.refusals import checked
from penstock.errors import BudgetExhausted, Forbidden, PenstockError
from penstock.persistence.tables import Allowance, AllowanceCharge, Charge, Query, Tier
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.datasets import allowances, datasets
from penstock.services.queries import registration
from penstock.services.schedules import schedules
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.queries import DatasetRequest, QueryRequest
from penstock.services.schemas.views import QueryView
from penstock.services.streams import streams
from penstock.services.verification.verification import verify

ROWS = "person,visits,book\n" + "".join(
    f"p{number},{number % 5},{number % 3}\n" for number in range(300)
)
BASE: dict[str, Any] = {
    "dataset": "stays",
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
    "levels": {"partner": {"epsilon": 0.25}},
}
VISITS = [{"column": "visits", "bins": [0, 1, 2, 4]}]
ROW = {"max_groups": 1, "max_rows_per_group": 1}
KINDS: dict[str, dict[str, Any]] = {
    "laplace": {"mechanism": "laplace"},
    "poisson": {"mechanism": "poisson"},
    "skellam": {"mechanism": "skellam", "group_by": VISITS},
    "sum": {"aggregate": {"type": "sum", "column": "visits"}, "contribution": ROW},
    "mean": {"aggregate": {"type": "mean", "column": "visits"}, "contribution": ROW},
    "bins": {
        "aggregate": {"type": "histogram", "column": "visits", "bins": [0, 2, 4]},
        "contribution": ROW,
    },
    "independent levels": {"mechanism": "generalized_gaussian", "p": 3},
    "sparse histogram": {
        "structure": "sparse_histogram",
        "domain": {"type": "uint64"},
        "false_keys": {"partner": 0.25},
        "max_levels": 4,
        "group_by": [{"column": "book"}],
    },
}


def lend(world: World, file: Path) -> None:
    """Add people, and a dataset of which the middle tier has an allowance."""
    fill(world)
    columns = {"visits": STAYS["columns"]["visits"], "book": {"type": "integer"}}
    source = {"engine": "duckdb", "uri": str(file)}
    content = {**STAYS, "source": source, "budgets": BUDGETS}
    content["columns"] = {"person": {"type": "string"}, **columns}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(content))
    spec = AllowanceSpec(epsilon=3.0)
    allowances.give(world.server, OPERATOR, "stays", "partner", spec)


@pytest.fixture
def lent(copy_world: CopyWorld, keep: Keep) -> World:
    return copy_world("lent", lambda world: lend(world, keep("lent.csv", ROWS)))


def register(world: World, who: Principal, name: str, least: int, **changes: Any) -> QueryView:
    """Register a query over the rows with at least so many visits."""
    where = [{"column": "visits", "op": ">=", "value": least}]
    content = {**BASE, "name": name, "where": where, **changes}
    return registration.register(world.server, who, checked(QueryRequest, content))


def charged(world: World, name: str) -> Counter[tuple[str, int, int, int]]:
    """Return what each tier was charged for a query."""
    with world.server.database.read() as session:
        rows = session.exec(
            select(Tier.name, Charge.rung, Charge.loss, Charge.failure)
            .join(Charge, Charge.tier_id == Tier.id)  # type: ignore[arg-type]  # columns
            .join(Query, Charge.query_id == Query.id)  # type: ignore[arg-type]  # columns
            .where(Query.name == name)
        ).all()
    return Counter((tier, rung, loss, failure) for tier, rung, loss, failure in rows)


@pytest.mark.parametrize("kind", KINDS)
def test_it_costs_every_tier_what_it_costs_as_a_query_of_an_admin(lent: World, kind: str) -> None:
    own = register(lent, lent.person("paul"), "mine", 1, **KINDS[kind])
    register(lent, OPERATOR, "theirs", 2, **KINDS[kind])
    assert [tier.tier for tier in own.tiers] == ["partner"]
    paid = charged(lent, "mine@partner,2")
    assert paid == charged(lent, "theirs")
    assert {tier for tier, *_ in paid} == {"partner", "internal"}
    with lent.server.database.read() as session:
        taken = session.exec(select(AllowanceCharge)).one()
        limit = session.exec(select(Allowance)).one().limit_loss
    assert 0 < taken.loss <= limit
    assert lent.ask("paul", "mine").view.level == lent.ask("ines", "mine").view.level
    with pytest.raises(PenstockError, match="There is no query"):
        lent.ask("pia", "mine")
    assert verify(lent.server, OPERATOR).problems == []


def test_what_a_tier_above_has_no_room_for_is_refused_with_all_that_may_help(lent: World) -> None:
    """A larger budget makes failures dearer, so the tiers above may be short of them first."""
    histogram = {**KINDS["sparse histogram"], "max_levels": 64}
    with pytest.raises(BudgetExhausted, match="lower max_levels or fewer false keys"):
        register(lent, lent.person("paul"), "mine", 1, **histogram)


def test_false_keys_for_other_tiers_are_refused(lent: World) -> None:
    histogram = {**KINDS["sparse histogram"], "false_keys": {"partner": 1, "internal": 5}}
    with pytest.raises(Forbidden, match="false keys at 'partner' alone"):
        register(lent, lent.person("paul"), "mine", 1, **histogram)


def test_streams_and_schedules_take_an_admin_whatever_allowance_there_is(lent: World) -> None:
    paul = lent.person("paul")
    with pytest.raises(Forbidden, match="takes the role admin"):
        streams.open_stream(lent.server, paul, None)  # type: ignore[arg-type]  # refused before
    with pytest.raises(Forbidden, match="takes the role admin"):
        schedules.create(lent.server, paul, None)  # type: ignore[arg-type]  # refused before
