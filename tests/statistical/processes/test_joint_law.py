"""Test that whatever the order, releases have the joint law of the static construction.

Statically, the increments between adjacent levels are drawn one by one; they are
independent, with exact laws.  So the joint table of all increments is compared with the
product of those, which no second sample blurs.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from tests.statistical.broken import one_sided_bridge, uniform_bridge
from tests.statistical.cases import CASES, Case, every_case
from tests.statistical.checks import accept, cells_of, joint_chi_squared, rejects, uncorrelated
from tests.statistical.processes.paths import (
    Drawer,
    increments_of,
    keyed_streams,
    lossless,
    redrawn,
    stale,
    zeros,
)
from tests.statistical.sample_sizes import every_size

from penstock.mechanisms import Mechanism

LARGE = 1 << 18
SIZES: Mapping[str, int] = {
    "gaussian": 1 << 15,
    "laplace": 1 << 15,
    "poisson": 1 << 17,
    "skellam": 1 << 15,
}
"""The right covariances with the wrong law need the most, in the worst order of those below:
7,200 values, 200, 115,000 and 7,500 (measured over 2^16, by ``sample_sizes``)."""

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

REPRESENTATIVES: Mapping[str, Sequence[int]] = {
    "gaussian": (0, 1, 4, 6),
    "laplace": (2, 5, 8),
    "poisson": (1, 3, 7),
    "skellam": (2, 5, 6),
}
"""At every change: each order with one mechanism or two, each mechanism in orders that bridge
and in one that raises its ceiling.  Every order with every mechanism is run every night."""


def _runs(*, bridging: bool) -> pytest.MarkDecorator:
    """Return mechanisms, orders, and whether with the large sample."""
    chosen = [
        pytest.param(case, ORDERS[place], False, id=f"{case.name}-{_digits(ORDERS[place])}")
        for case in CASES
        for place in REPRESENTATIVES[case.name]
        if place or not bridging
    ]
    product = [
        pytest.param(
            case, order, True, id=f"{case.name}-{_digits(order)}-large", marks=pytest.mark.nightly
        )
        for case in CASES
        for order in ORDERS[bridging:]
    ]
    return pytest.mark.parametrize(("case", "order", "large"), [*chosen, *product])


def _digits(order: Sequence[int]) -> str:
    return "".join(str(place) for place in order)


def _p_values(
    case: Case,
    mechanism: Mechanism,
    drawer: Drawer,
    order: Sequence[int],
    label: str,
    *,
    large: bool,
) -> tuple[float, float]:
    exact = zeros(LARGE if large else SIZES[case.name])
    streams = keyed_streams(f"joint/{label}/{case.name}/{order}")
    path = drawer(mechanism, exact, [case.levels[place] for place in order], streams)
    parts = increments_of(path, exact)
    below = (Fraction(0), *case.levels)
    laws = [case.law(a, b) for a, b in zip(below, case.levels, strict=False)]
    return joint_chi_squared(parts, [cells_of(law, 3) for law in laws]), uncorrelated(parts)


@_runs(bridging=False)
def test_releases_in_any_order_have_the_joint_law_of_the_static_construction(
    case: Case, order: tuple[int, ...], *, large: bool
) -> None:
    table, correlations = _p_values(case, case.mechanism, lossless, order, "right", large=large)
    accept(table, f"{case.name} joint law, order {order}")
    accept(correlations, f"{case.name} correlations, order {order}")


@_runs(bridging=True)
def test_a_bridge_that_forgets_a_neighbor_is_found_out(
    case: Case, order: tuple[int, ...], *, large: bool
) -> None:
    forgetful = one_sided_bridge(case.mechanism)
    found = _p_values(case, forgetful, lossless, order, "one-sided", large=large)
    assert all(rejects(p) for p in found)


@_runs(bridging=True)
def test_a_bridge_with_the_right_covariances_alone_is_found_out(
    case: Case, order: tuple[int, ...], *, large: bool
) -> None:
    uniform = uniform_bridge(case.mechanism)
    table, _ = _p_values(case, uniform, lossless, order, "uniform", large=large)
    assert rejects(table)


@every_size
@every_case
@pytest.mark.parametrize("drawer", [stale, redrawn], ids=["stale neighbors", "redrawn"])
def test_paths_that_are_not_paths_are_found_out(case: Case, drawer: Drawer, *, large: bool) -> None:
    found = _p_values(case, case.mechanism, drawer, ORDERS[1], drawer.__name__, large=large)
    assert all(rejects(p) for p in found)
