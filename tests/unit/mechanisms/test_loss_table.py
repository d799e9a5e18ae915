"""Test privacy losses on a grid, against randomized response and direct sums."""

import math

import numpy as np
import pytest

from penstock.mechanisms.loss_table import LossTable, Profile, divergences, joined, split_cells

WIDTH = 0.25


def _response(place: int) -> LossTable:
    """Return randomized response, whose loss is ``place`` widths or minus that."""
    upper = np.zeros(place)
    upper[-1] = 1 / (1 + math.exp(-place * WIDTH))
    return LossTable(WIDTH, upper, 0.0)


def test_divergences_are_their_sums() -> None:
    masses = np.array([0.1, 0.0, 0.3, 0.2])
    losses = WIDTH * np.arange(1, 5)
    expected = [
        sum(
            mass * -math.expm1(at - loss)
            for mass, loss in zip(masses, losses, strict=True)
            if loss > at
        )
        for at in WIDTH * np.arange(5)
    ]
    assert divergences(masses, WIDTH) == pytest.approx(expected, abs=1e-15)


def test_randomized_response_has_its_epsilon_at_no_delta_and_less_at_more() -> None:
    table = _response(4)
    assert table.epsilon(0.0) == pytest.approx(1.0, rel=1e-12)
    delta = math.tanh(0.5)  # the total variation
    assert table.epsilon(delta) == pytest.approx(0.0, abs=1e-9)


def test_all_masses_of_a_table_add_up_and_mirror_each_other() -> None:
    first, masses = _response(4).dense()
    assert (first, len(masses)) == (-4, 9)
    assert masses.sum() == pytest.approx(1.0, rel=1e-15)
    assert masses[0] == pytest.approx(masses[-1] * math.exp(-1.0), rel=1e-15)


def test_between_points_the_profile_is_straight_in_the_exponential_of_epsilon() -> None:
    profile = Profile(WIDTH, 0.5, np.array([0.3, 0.1, 0.0]))
    middle = 0.5 + math.log((1 + math.exp(WIDTH)) / 2)
    assert profile.delta(middle) == pytest.approx(0.2, rel=1e-12)
    assert profile.epsilon(0.2) == pytest.approx(middle, rel=1e-12)


def test_a_delta_beyond_the_grid_has_no_epsilon_and_a_large_one_the_first() -> None:
    profile = Profile(WIDTH, 0.5, np.array([0.3, 0.1]))
    assert profile.epsilon(0.05) == math.inf
    assert profile.epsilon(0.3) == 0.5


def test_split_cells_keep_their_mass_under_both_hypotheses() -> None:
    masses, others = np.array([0.2, 0.1]), np.array([0.17, 0.09])
    raised = (masses - others) / -math.expm1(-WIDTH)
    kept = masses - raised
    at_grid = split_cells(masses, others, WIDTH)
    assert at_grid == pytest.approx(joined(kept, raised))
    # What cell 0 leaves below it is at the loss 0, which is not part of the table.
    assert kept[0] + at_grid.sum() == pytest.approx(masses.sum(), rel=1e-14)
    second = kept[0] + (at_grid * np.exp(-WIDTH * np.arange(1, 3))).sum()
    stated = (others * np.exp(-WIDTH * np.arange(2))).sum()
    assert second == pytest.approx(stated, rel=1e-14)
