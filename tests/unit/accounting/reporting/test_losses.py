"""Test that loss tables have profiles never below the exact ones, and hardly above them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.accounting import exact_losses

from penstock.accounting.reporting.losses import (
    gaussian_table,
    laplace_table,
    poisson_table,
    worst_of,
)
from penstock.mechanisms.gaussian.curve import delta_at, epsilon_at
from penstock.mechanisms.loss_table import LossTable

ROUNDING = 1e-13


def covers(table: LossTable, pair: exact_losses.Pair, slack: float) -> bool:
    """Return whether the table's profile is above that of both orders, by ``slack`` at most."""
    size = len(table.upper)
    for j, given in enumerate(table.profile(size)):
        exact = max(
            exact_losses.delta_at(one, j * table.width) for one in (pair, exact_losses.turned(pair))
        )
        if not exact * (1 - ROUNDING) - ROUNDING <= given <= exact + slack:
            return False
    return True


@pytest.mark.parametrize("width", [0.3, 0.01, 0.0007])
@pytest.mark.parametrize(("decay", "shift"), [(1.0, 1), (0.5, 4), (0.11, 9), (0.001, 700)])
def test_a_laplace_table_meets_the_exact_profile_on_the_grid(
    decay: float, shift: int, width: float
) -> None:
    table = laplace_table(decay, shift, width)
    assert covers(table, exact_losses.laplace(decay, shift), slack=1e-12)


@pytest.mark.parametrize("width", [0.1, 0.004])
@pytest.mark.parametrize(("mean", "shift"), [(3.0, 1), (40.0, 1), (40.0, 5), (900.0, 12)])
def test_a_poisson_table_meets_the_worse_order_on_the_grid(
    mean: float, shift: int, width: float
) -> None:
    table = poisson_table(mean, shift, width, tail=1e-13)
    pair = exact_losses.poisson_noise(mean, shift, reach=int(mean + 12 * math.sqrt(mean) + 60))
    assert covers(table, pair, slack=1e-12)


@pytest.mark.parametrize("width", [0.1, 0.003])
@pytest.mark.parametrize("mu", [0.05, 1.0, 7.0])
def test_a_gaussian_table_meets_the_exact_profile_on_the_grid(mu: float, width: float) -> None:
    table = gaussian_table(mu, width, tail=1e-15)
    for j, given in enumerate(table.profile(len(table.upper))):
        exact = delta_at(j * width, mu)
        assert exact * (1 - 1e-9) <= given <= exact * (1 + 1e-9) + 2e-15


def test_a_table_that_rounds_losses_down_is_found_out() -> None:
    pair = exact_losses.laplace(0.11, 9)
    table = laplace_table(0.11, 9, 0.01)
    lowered = replace(table, upper=np.append(table.upper[1:], 0.0))
    assert not covers(lowered, pair, slack=1.0)


def test_a_table_that_forgets_what_cannot_be_explained_is_found_out() -> None:
    pair = exact_losses.poisson_noise(3.0, 1, reach=60)
    table = poisson_table(3.0, 1, 0.01, tail=1e-13)
    assert table.infinite == pytest.approx(math.exp(-3.0))
    assert not covers(replace(table, infinite=0.0), pair, slack=1.0)


@pytest.mark.parametrize(
    "table",
    [
        laplace_table(0.05, 40, 0.003),
        gaussian_table(1.5, 0.002, 1e-15),
        poisson_table(50.0, 3, 0.002, 1e-15),
    ],
    ids=["laplace", "gaussian", "poisson"],
)
def test_a_table_is_a_symmetric_distribution(table: LossTable) -> None:
    first, masses = table.dense()
    assert len(masses) == 1 - 2 * first
    assert masses.min() >= 0
    assert masses.sum() + table.infinite == pytest.approx(1, abs=1e-12)
    losses = table.width * np.arange(first, 1 - first)
    np.testing.assert_allclose(masses[::-1], masses * np.exp(-losses), rtol=1e-9, atol=1e-300)
    # Under the other hypothesis the finite losses have the same mass.
    assert (masses * np.exp(-losses)).sum() == pytest.approx(1 - table.infinite, abs=1e-12)


@pytest.mark.parametrize("runs", [12, 14])
def test_runs_of_poisson_outcomes_change_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    exact = poisson_table(1e6, 3, 1e-5, 1e-13)
    monkeypatch.setattr("penstock.accounting.reporting.losses._LOG_OUTCOMES", runs)
    rough = poisson_table(1e6, 3, 1e-5, 1e-13)
    size = max(len(exact.upper), len(rough.upper))
    np.testing.assert_allclose(rough.profile(size), exact.profile(size), rtol=2e-3, atol=1e-12)


def test_the_worst_of_tables_is_above_each_and_no_higher_than_needed() -> None:
    tables = [laplace_table(0.05, 40, 0.01), gaussian_table(1.0, 0.01, 1e-15)]
    worst = worst_of(tables)
    size = len(worst.upper)
    highest = np.maximum(tables[0].profile(size), tables[1].profile(size))
    np.testing.assert_allclose(worst.profile(size), highest, rtol=1e-9, atol=1e-15)
    assert (tables[0].profile(size) > tables[1].profile(size)).any()
    assert (tables[0].profile(size) < tables[1].profile(size)).any()


@pytest.mark.parametrize("decay", [0.02, 0.4, 1.5])
@pytest.mark.parametrize(("larger", "smaller"), [(1, 1), (3, 2), (5, 1), (6, 6), (9, 4)])
def test_concentrating_a_laplace_shift_is_never_milder(
    decay: float, larger: int, smaller: int
) -> None:
    spread = exact_losses.joint(
        [exact_losses.laplace(decay, larger), exact_losses.laplace(decay, smaller)]
    )
    moved = [exact_losses.laplace(decay, larger + 1)]
    if smaller > 1:
        moved.append(exact_losses.laplace(decay, smaller - 1))
    concentrated = exact_losses.joint(moved)
    for epsilon in np.linspace(0, decay * (larger + smaller), 23):
        mild = exact_losses.delta_at(spread, float(epsilon))
        assert mild <= exact_losses.delta_at(concentrated, float(epsilon)) + 1e-15


@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("mu", [0.02, 1.0, 5.0, 60.0])
def test_a_table_is_read_at_the_epsilon_of_its_curve(mu: float, delta: float) -> None:
    exact = epsilon_at(delta, mu)
    table = gaussian_table(mu, (mu * mu / 2 + 5 * mu) / 2**12, tail=1e-17)
    assert exact * (1 - 1e-6) <= table.epsilon(delta) <= exact * (1 + 1e-4)


def test_more_infinite_loss_than_delta_has_no_epsilon() -> None:
    table = LossTable(0.1, np.array([0.2, 0.1]), 0.05)
    assert table.epsilon(0.04) == math.inf
    assert table.epsilon(0.06) < 0.3
    assert table.epsilon(0.9) == 0
