"""Test the noise of elements against that of the totals that the server states."""

import numpy as np
import pytest
from scipy import signal

from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.errors import variances
from penstock.structures.streams.root_matrices import float_decoder
from penstock_client import InvalidArgument
from penstock_client._http.fields import Fields
from penstock_client._values.series import Series

STEPS = 300


def series_of(kind: str, granularity: float = 1e-9) -> Series:
    more = buffers() if kind == "buffered" else {}
    stated = {"structure": {"kind": kind}, "variance": 4.0, **more}
    series = Series.read_or_none(Fields(stated, "covariance"), granularity)
    assert series is not None
    return series


def buffers() -> dict[str, object]:
    matrix = encoder(STEPS)
    return {
        "weights": list(map(float, matrix.weights)),
        "decays": list(map(float, matrix.kept)),
    }


def test_coefficients_of_buffers_are_those_of_the_servers_totals() -> None:
    series = series_of("buffered")
    found = np.cumsum([next(series.coefficients) ** 2 for _ in range(STEPS)])
    assert found == pytest.approx(list(variances(encoder(STEPS), range(1, STEPS + 1))))


def test_coefficients_of_the_square_root_are_those_of_the_server() -> None:
    series = series_of("square_root")
    found = [next(series.coefficients) for _ in range(STEPS)]
    assert found == pytest.approx(float_decoder(STEPS).tolist(), rel=1e-4)


@pytest.mark.parametrize("kind", ["square_root", "buffered"])
def test_an_element_has_the_noise_that_two_totals_do_not_share(kind: str) -> None:
    other = series_of(kind)
    entries = np.array([next(other.coefficients) for _ in range(STEPS)])
    totals = signal.lfilter(entries, [1.0], np.eye(STEPS), axis=0)
    elements = np.diff(totals, axis=0, prepend=0)
    exact = 2.0 * np.sqrt(np.square(elements).sum(axis=1))
    series = series_of(kind)
    for step in (300, 1, 2, 57, 299):
        deviation, half, law = series.of_element(step, 0.95)
        assert deviation == pytest.approx(exact[step - 1])
        assert half == pytest.approx(1.959963984540054 * exact[step - 1])
        assert law.startswith("exact for Gaussian noise")


def test_rounded_totals_have_wider_elements() -> None:
    fine, coarse = series_of("square_root"), series_of("square_root", granularity=6.0)
    assert coarse.of_element(1, 0.95)[1] == pytest.approx(fine.of_element(1, 0.95)[1] + 3)
    assert coarse.of_element(2, 0.95)[1] == pytest.approx(fine.of_element(2, 0.95)[1] + 6)
    assert coarse.of_element(2, 0.95)[0] ** 2 == pytest.approx(fine.of_element(2, 0.95)[0] ** 2 + 6)
    with pytest.raises(InvalidArgument, match="confidence"):
        fine.of_element(1, 1)


def test_trees_are_no_series() -> None:
    tree = {"structure": {"kind": "kary"}, "variance": 1.0}
    assert Series.read_or_none(Fields(tree, "covariance"), 1.0) is None
