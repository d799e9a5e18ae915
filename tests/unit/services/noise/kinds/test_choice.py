"""Test that the kind of a query is chosen from its row, and that of a request from its spec."""

import json
from typing import Any

import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.persistence.tables import Query
from penstock.services.noise.independent_levels import IndependentLevels
from penstock.services.noise.kinds.choice import KINDS, kind_of, stream_kind_of
from penstock.services.noise.kinds.correlated_counts import CorrelatedKind
from penstock.services.noise.kinds.mean import MeanKind
from penstock.services.noise.kinds.stream import StreamKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.lossless_levels import LosslessLevels

SHAPE = {
    "kind": "kary",
    "length": 50,
    "dimension": 1,
    "max_steps_per_unit": 1,
    "step": "1",
    "bound": "100",
    "k": 2,
    "subtracting": False,
}
MEAN = {"aggregate": {"type": "mean", "column": "x", "lower": 0, "upper": 10}}


def stored(visits: World, **changes: Any) -> Query:
    """Return the row of ``visits`` with other columns, outside of any session."""
    with visits.server.database.read() as session:
        known = session.exec(select(Query)).one()
        return row(Query, **{**known.model_dump(), **changes})


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, VectorKind),
        ({"spec": json.dumps(MEAN), "dimension": 2}, MeanKind),
        ({"spec": json.dumps({"aggregate": {"type": "uncategorized"}})}, MeanKind),
        ({"structure": json.dumps(SHAPE)}, StreamKind),
    ],
)
def test_a_row_has_the_kind_that_its_columns_tell(
    visits: World, changes: dict[str, Any], kind: type
) -> None:
    assert type(kind_of(stored(visits, **changes))) is kind


def test_levels_are_a_path_but_for_generalized_gaussian_noise(visits: World) -> None:
    assert isinstance(kind_of(stored(visits)).levels, LosslessLevels)
    own = kind_of(stored(visits, mechanism="generalized_gaussian", power="4"))
    assert isinstance(own.levels, IndependentLevels)
    assert (own.lossless, own.p) == (False, 4.0)


def test_what_is_no_stream_is_not_taken_for_one(visits: World) -> None:
    assert stream_kind_of(stored(visits, structure=json.dumps(SHAPE))).shape.length == 50
    with pytest.raises(TypeError, match="'visits' is used as a stream"):
        stream_kind_of(stored(visits))


def test_the_vector_comes_last_since_every_query_is_one() -> None:
    assert KINDS[-1] is VectorKind
    assert CorrelatedKind in KINDS
