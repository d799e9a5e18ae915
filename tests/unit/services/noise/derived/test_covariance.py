"""Test the covariance of weighted sums against the maps by which values are computed."""

import numpy as np
import pytest
from tests.unit.services.noise.derived.released import (
    DEVIATION,
    compare,
    grouped,
    release_of,
    tables,
)

from penstock.services.noise.derived.covariance import covariance_of, deviations_of
from penstock.structures.marginals.tables import reconstructed


def test_values_that_share_no_noise_have_their_variances() -> None:
    compare(covariance_of(release_of(1, 2, 3)), np.eye(3) * DEVIATION**2)


def test_counts_of_a_group_share_noise_with_each_other_and_their_size() -> None:
    group = np.array([[100.0, -30.0, 20.0], [-30.0, 100.0, 20.0], [20.0, 20.0, 400.0]])
    compare(covariance_of(grouped()), np.kron(np.eye(2), group))


def test_cells_of_marginals_share_their_residuals() -> None:
    view, made = tables()
    columns = []
    for noise in np.eye(made.dimension):
        cells = reconstructed(made, 3 * noise)
        columns.append(np.concatenate([cells[each].ravel() for each in made.sets]))
    exact = np.array(columns).T @ np.array(columns)
    compare(covariance_of(view), exact)
    assert np.sqrt(np.diag(exact)) == pytest.approx(deviations_of(view))
