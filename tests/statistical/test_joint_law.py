"""Whatever the order, releases have the joint law of the static construction.

Statically, the increments between adjacent levels are drawn one by one; they are
independent, with exact laws.  So the joint table of all increments is compared with the
product of those, which no second sample blurs.
"""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from tests.statistical.broken import one_sided_bridge, uniform_bridge
from tests.statistical.cases import Case, every_case
from tests.statistical.checks import (
    accept,
    cells_of,
    joint_chi_squared,
    rejects,
    uncorrelated,
)
from tests.statistical.paths import (
    Drawer,
    increments_of,
    keyed_streams,
    lossless,
    redrawn,
    stale,
    zeros,
)

from penstock.mechanisms import Mechanism

SIZE = 1 << 18

ORDERS = (
    (0, 1, 2, 3, 4, 5),
    (0, 5, 3, 1, 4, 2),
    (0, 5, 4, 3, 2, 1),
    (0, 2, 5, 1, 4, 3),
    (0, 3, 1, 2, 5, 4),
    (0, 4, 2, 5, 3, 1),
    (2, 5, 0, 3, 1, 4),
    (3, 1, 5, 2, 0, 4),
    (5, 4, 3, 2, 1, 0),
)
"""The last three raise the ceiling: their anchor is not the most accurate level."""

every_order = pytest.mark.parametrize(
    "order", ORDERS, ids=lambda order: "".join(str(place) for place in order)
)
every_order_that_bridges = pytest.mark.parametrize(
    "order", ORDERS[1:], ids=lambda order: "".join(str(place) for place in order)
)


def _p_values(
    case: Case, mechanism: Mechanism, drawer: Drawer, order: Sequence[int], label: str
) -> tuple[float, float]:
    exact = zeros(SIZE)
    streams = keyed_streams(f"joint/{label}/{case.name}/{order}")
    path = drawer(mechanism, exact, [case.levels[place] for place in order], streams)
    parts = increments_of(path, exact)
    below = (Fraction(0), *case.levels)
    laws = [case.law(a, b) for a, b in zip(below, case.levels, strict=False)]
    return joint_chi_squared(parts, [cells_of(law, 3) for law in laws]), uncorrelated(parts)


@every_case
@every_order
def test_releases_in_any_order_have_the_joint_law_of_the_static_construction(
    case: Case, order: tuple[int, ...]
) -> None:
    table, correlations = _p_values(case, case.mechanism, lossless, order, "right")
    accept(table, f"{case.name} joint law, order {order}")
    accept(correlations, f"{case.name} correlations, order {order}")


@every_case
@every_order_that_bridges
def test_a_bridge_that_forgets_a_neighbor_is_found_out(case: Case, order: tuple[int, ...]) -> None:
    forgetful = one_sided_bridge(case.mechanism)
    assert all(rejects(p) for p in _p_values(case, forgetful, lossless, order, "one-sided"))


@every_case
@every_order_that_bridges
def test_a_bridge_with_the_right_covariances_alone_is_found_out(
    case: Case, order: tuple[int, ...]
) -> None:
    table, _ = _p_values(case, uniform_bridge(case.mechanism), lossless, order, "uniform")
    assert rejects(table)


@every_case
@pytest.mark.parametrize("drawer", [stale, redrawn], ids=["stale neighbors", "redrawn"])
def test_paths_that_are_not_paths_are_found_out(case: Case, drawer: Drawer) -> None:
    for p_value in _p_values(case, case.mechanism, drawer, ORDERS[1], drawer.__name__):
        assert rejects(p_value)
