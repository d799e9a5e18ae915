"""Test that keys of any content arrive as they are, and numerics become their nearest doubles."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from tests.databases.warehouse import Warehouse
from tests.unit.connectors.cases import KEY, SALT, dataset_of, query_of, stated

from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.postgresql.relations import array
from penstock.connectors.postgresql.session import reading
from penstock.connectors.specs.models import DatasetSpec

TEXTS = ("", "a,b", '"', "\\", "NULL", "{}", " x ", "\n", "\u6771", "$1", "'", 'a\\"b')


def test_an_array_holds_what_it_is_made_of(warehouse: Warehouse) -> None:
    with reading(warehouse.address) as session:
        for kind, cells in (
            ("text", (*TEXTS, None)),
            ("bigint", (-(2**63), 0, 2**63 - 1)),
            ("double precision", (5e-324, -0.1, 1.7976931348623157e308, math.inf)),
            ("boolean", (True, False, None)),
            ("date", (datetime.date(1, 1, 1), datetime.date(9999, 12, 31))),
        ):
            text = f"SELECT unnest(CAST($1 AS {kind}[])) AS cell"
            assert tuple(session.table(text, (array(cells),))["cell"].to_pylist()) == cells


@pytest.mark.parametrize(
    "text",
    [
        "1e-400",
        "3e-324",
        "2e-324",
        "-4.9e-324",
        "1.7976931348623158e308",
        "1.8e308",
        "-1e5000",
        "0.1",
    ],
)
def test_a_numeric_is_its_nearest_double(
    warehouse: Warehouse, visits: DatasetSpec, text: str
) -> None:
    warehouse.fill("visits", {"person": "text", "cost": "numeric"}, [("ann", Decimal(text))])
    exact = Fraction(Decimal(text))
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = -math.inf if exact < 0 else math.inf
    dataset = dataset_of(
        source=visits.source.model_dump(),
        columns={"person": {"type": "string"}, "cost": {"type": "number"}},
    )
    condition: dict[str, object] = {"column": "cost", "op": "=", "value": nearest}
    if abs(nearest) > 2.0**62:
        # Values of a spec are no larger.
        condition |= {"op": ">", "value": 2.0**62} if nearest > 0 else {"op": "<", "value": 0}
    query = query_of(where=[condition])
    found = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, warehouse.sources),
        sources=warehouse.sources,
    ).steps
    assert found.tolist() == [int(math.isfinite(nearest))]
