"""Test that counts that are protected together have one joint law over values and tiers.

Two values of a tier share the noise of their group's size, two tiers that of the more accurate
one; what is expected is written down here from the papers' closed forms, and not taken from
the nodes.  A coalition of all tiers, which weighs all their values as best it can, knows no
more than its best member.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg, stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import Drawer, Path, keyed_streams, lossless, redrawn

from penstock.mechanisms import Gaussian, IntVector
from penstock.structures.counts import Centered, Lift, Nodes
from penstock.structures.ellipse import Ellipse

Matrix = NDArray[np.float64]
Reader = Callable[[IntVector, Fraction], Matrix]

SAMPLES = 1 << 15
LEVELS = (Fraction(3), Fraction(5), Fraction(12), Fraction(40))
ORDER = (LEVELS[1], LEVELS[3], LEVELS[0], LEVELS[2])
"""The third one raises the ceiling, the last one joins between."""

COLUMNS, GROUPS, WEIGHT = 3, 2, 6001
TRADE_OFF = WEIGHT / 4096
TOLERANCE = 0.01


@dataclass(frozen=True)
class Case:
    """Hold nodes of one release, and how to read many releases at once.

    The covariance is at level 1.
    """

    name: str
    nodes: Nodes
    exact: IntVector
    read: Reader
    covariance: Matrix


def _lifted() -> Matrix:
    group = np.full((COLUMNS + 1, COLUMNS + 1), 1 / (4 * TRADE_OFF**2))
    group[:, COLUMNS] *= 2
    group[COLUMNS, :] *= 2
    group += np.diag([0.25] * COLUMNS + [0.0])
    return np.kron(np.eye(GROUPS), group)


def _elliptic(ellipse: Ellipse) -> Matrix:
    a, b = ellipse.diagonal * float(ellipse.step), ellipse.everywhere * float(ellipse.step)
    strategy = a * np.eye(ellipse.columns) + b
    return np.kron(np.eye(ellipse.groups), np.linalg.inv(strategy @ strategy))


def _lift_all(released: IntVector, granularity: Fraction) -> Matrix:
    many = Lift(COLUMNS, len(released) // (COLUMNS + 1), WEIGHT)
    return many.values(released, granularity).reshape(-1, GROUPS * (COLUMNS + 1))


def _wrong_sign(released: IntVector, granularity: Fraction) -> Matrix:
    """Subtract the size where it is to be added: a broken variant."""
    values = _lift_all(released, granularity).reshape(-1, COLUMNS + 1)
    values[:, :-1] -= values[:, -1:]
    return values.reshape(-1, GROUPS * (COLUMNS + 1))


def _as_if_in_one(released: IntVector, granularity: Fraction) -> Matrix:
    """Read nodes of members of most groups as if these were in one at most: a broken variant."""
    return _one_by_one(Ellipse(_MOST.columns, 1, _MOST.groups))(released, granularity)


def _one_by_one(nodes: Nodes) -> Reader:
    def read(released: IntVector, granularity: Fraction) -> Matrix:
        rows = released.reshape(-1, nodes.size)
        return np.stack([nodes.values(row, granularity) for row in rows])

    return read


_LIFT = Lift(COLUMNS, GROUPS, WEIGHT)
_CENTERED = Centered(4, Fraction(90))
_ELLIPSE = Ellipse(7, 3)
_MOST = Ellipse(3, 3, groups=2)
_COUNTS = np.array([[30, 12, 7], [4, 0, 1]], dtype=np.int64)
_SIZES = np.array([50, 9], dtype=np.int64)

MOST = Case(
    "ellipse of most groups",
    _MOST,
    _MOST.nodes(_COUNTS),
    _one_by_one(_MOST),
    _elliptic(_MOST),
)
LIFT = Case("lift", _LIFT, _LIFT.nodes(2 * _COUNTS - _SIZES[:, None], _SIZES), _lift_all, _lifted())
CASES = (
    LIFT,
    Case(
        "centered",
        _CENTERED,
        np.array([3, -60, 0, 88], dtype=np.int64),
        _one_by_one(_CENTERED),
        np.eye(4) / 4,
    ),
    Case(
        "ellipse",
        _ELLIPSE,
        _ELLIPSE.nodes(np.arange(7, dtype=np.int64)),
        _one_by_one(_ELLIPSE),
        _elliptic(_ELLIPSE),
    ),
    MOST,
)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@cache
def _released(name: str, drawer: Drawer) -> tuple[Fraction, Path]:
    """Return the step and the releases of all tiers, of as many copies as there are samples."""
    (case,) = (case for case in CASES if case.name == name)
    mechanism, _ = Gaussian.plan(LEVELS[0], case.nodes.step, Fraction(1000))
    scale = case.nodes.step / mechanism.granularity
    exact = np.tile(case.exact, SAMPLES) * np.int64(int(scale))
    path = drawer(mechanism, exact, ORDER, keyed_streams(f"{name}/{drawer.__name__}"))
    return mechanism.granularity, path


def _errors_read(case: Case, drawer: Drawer, read: Reader) -> Matrix:
    """Return how far values of all tiers are off, the most accurate tier first: a row a sample."""
    step, path = _released(case.name, drawer)
    wanted = case.nodes.values(case.exact * np.int64(int(case.nodes.step / step)), step)
    errors = [read(path[level], step) - wanted for level in LEVELS]
    return np.concatenate(errors, axis=1, dtype=np.float64)


@cache
def _errors_of(name: str, drawer: Drawer) -> Matrix:
    (case,) = (case for case in CASES if case.name == name)
    return _errors_read(case, drawer, case.read)


def _errors(case: Case, drawer: Drawer) -> Matrix:
    """Return these errors as the case reads them, drawn once for all tests."""
    return _errors_of(case.name, drawer)


def _expected(case: Case) -> Matrix:
    shared = np.minimum.outer([float(one) for one in LEVELS], [float(one) for one in LEVELS])
    return np.asarray(np.kron(shared, case.covariance), dtype=np.float64)


def _p_value(case: Case, errors: Matrix) -> float:
    """Return the least p-value of all pairs of values and all means, by Bonferroni."""
    found = errors.T @ errors / SAMPLES
    squares = np.square(errors).T @ np.square(errors) / SAMPLES
    deviations = np.sqrt((squares - found**2) / SAMPLES)
    pairs = np.triu_indices(len(found))
    scores = (np.abs(found - _expected(case)) / deviations)[pairs]
    means = np.abs(errors.mean(axis=0)) / np.sqrt(np.diagonal(_expected(case)) / SAMPLES)
    all_scores = np.append(scores, means)
    return min(1.0, 2 * float(stats.norm.sf(all_scores.max())) * len(all_scores))


def _gain(case: Case, errors: Matrix) -> float:
    """Return the least ratio of the coalition's mean squared error to its best member's.

    The least is over the values.
    """
    width = len(case.covariance)
    covariance = errors.T @ errors / SAMPLES
    design = np.tile(np.eye(width), (len(LEVELS), 1))
    weighed = linalg.solve(covariance, design, assume_a="pos")
    together = np.diagonal(np.linalg.inv(design.T @ weighed))
    return float((together / np.diagonal(covariance)[:width]).min())


@every_case
def test_values_of_all_tiers_have_their_joint_covariance(case: Case) -> None:
    accept(_p_value(case, _errors(case, lossless)), f"{case.name}, covariance")


@every_case
def test_tiers_that_are_drawn_for_themselves_are_found_out(case: Case) -> None:
    assert rejects(_p_value(case, _errors(case, redrawn)))


def test_a_size_with_the_wrong_sign_is_found_out() -> None:
    assert rejects(_p_value(LIFT, _errors_read(LIFT, lossless, _wrong_sign)))


def test_nodes_that_are_read_as_those_of_other_members_are_found_out() -> None:
    assert rejects(_p_value(MOST, _errors_read(MOST, lossless, _as_if_in_one)))


@every_case
def test_a_variance_that_is_passed_as_a_deviation_is_found_out(case: Case) -> None:
    errors = _errors(case, lossless)
    deviations = np.repeat([float(level) ** 0.5 for level in LEVELS], len(case.covariance))
    assert rejects(_p_value(case, errors * deviations))


@every_case
def test_a_coalition_of_all_tiers_knows_no_more_than_its_best_member(case: Case) -> None:
    ratio = _gain(case, _errors(case, lossless))
    assert 1 - TOLERANCE <= ratio <= 1 + 1e-9


@every_case
def test_a_coalition_gains_where_tiers_are_drawn_for_themselves(case: Case) -> None:
    assert _gain(case, _errors(case, redrawn)) < 1 - TOLERANCE
