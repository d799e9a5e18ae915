"""Test the variance of outputs against the entries of ``L``."""

import numpy as np
import pytest
from tests.unit.structures.streams.buffered.exact_matrices import decoder

from penstock.structures.streams.buffered.encoder import LONGEST, encoder
from penstock.structures.streams.buffered.errors import element_variances, squares, variances


@pytest.mark.parametrize("length", [130, LONGEST])
def test_variances_are_sums_of_squares_of_the_decoder(length: int) -> None:
    matrix = encoder(length)
    exact = np.cumsum([float(entry) ** 2 for entry in decoder(matrix, 130)])
    every = list(variances(matrix, range(1, 131)))
    assert every == pytest.approx(exact, rel=1e-9)
    some = [1, 2, 5, 100, 130]
    assert list(variances(matrix, some)) == pytest.approx([exact[s - 1] for s in some], rel=1e-9)
    for steps in (1, 7, 130):
        assert squares(matrix, steps) == pytest.approx(
            (exact[steps - 1], exact[:steps].mean()), rel=1e-9
        )


@pytest.mark.parametrize("length", [130, LONGEST])
def test_variances_of_elements_are_sums_of_squares_of_differences(length: int) -> None:
    matrix = encoder(length)
    differences = np.diff([float(entry) for entry in decoder(matrix, 130)], prepend=0.0)
    exact = np.cumsum(np.square(differences))
    assert list(element_variances(matrix, range(1, 131))) == pytest.approx(exact, rel=1e-9)
    some = [130, 1, 2, 5, 100]
    found = list(element_variances(matrix, some))
    assert found == pytest.approx([exact[step - 1] for step in some], rel=1e-9)
