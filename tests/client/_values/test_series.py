"""Test the noise of elements against that of the totals that the server states."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, islice

import numpy as np
import pytest
from scipy import signal

from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.errors import variances
from penstock.structures.streams.root_matrices import float_decoder
from penstock_client import InvalidArgument
from penstock_client._http.fields import Fields
from penstock_client._values.series import FEW, NEAR, Buffers, Root, Series

STEPS = 300


def series_of(kind: str, granularity: float = 1e-9) -> Series:
    more = buffers(STEPS) if kind == "buffered" else {}
    stated = {"structure": {"kind": kind}, "variance": 4.0, **more}
    series = Series.read_or_none(Fields(stated, "covariance"), granularity)
    assert series is not None
    return series


def buffers(length: int | None) -> dict[str, list[float]]:
    matrix = encoder(length)
    return {
        "weights": list(map(float, matrix.weights)),
        "decays": list(map(float, matrix.kept)),
    }


def added(weights: list[float], decays: list[float]) -> Iterator[float]:
    """Yield what each step adds to a total after a single noise of 1, step by step."""
    now, noise = [0.0] * len(weights), 1.0
    while True:
        noise -= math.fsum(w * b for w, b in zip(weights, now, strict=True))
        now = [d * b + noise for d, b in zip(decays, now, strict=True)]
        yield noise
        noise = 0.0


def entries(kind: str) -> list[float]:
    """Return the first column of ``L``."""
    if kind == "square_root":
        return list(map(float, float_decoder(STEPS)))
    return list(accumulate(islice(added(**buffers(STEPS)), STEPS)))


def test_what_is_run_step_by_step_has_the_variance_of_the_servers_totals() -> None:
    sums = np.cumsum(np.square(entries("buffered")))
    assert sums == pytest.approx(list(variances(encoder(STEPS), range(1, STEPS + 1))))


def test_sums_of_the_square_root_are_those_of_exact_fractions() -> None:
    """Compare with the recursion of the coefficients in fractions: at most 8 units of 2^-53."""
    entry, last, total = Fraction(1), Fraction(0), Fraction(0)
    for step in range(1, 20 * FEW):
        total += (entry - last) ** 2
        last, entry = entry, entry * Fraction(2 * step - 1, 2 * step)
        assert Root().up_to(step) == pytest.approx(float(total), rel=2.0**-50)
    # They add up to 4 / pi in the end.
    assert Root().up_to(1 << 60) == pytest.approx(4 / math.pi, rel=2.0**-50)


@pytest.mark.parametrize("length", [1, 300, 1 << 16, None])
def test_sums_of_buffers_at_a_step_are_those_of_every_step_before(length: int | None) -> None:
    known = buffers(length)
    weights, decays = tuple(known["weights"]), tuple(known["decays"])
    last = 20 * NEAR
    squares = np.square(list(islice(added(**known), last)))
    slow = np.cumsum(squares.astype(np.longdouble))
    apart = Buffers(weights, decays)
    for step in (last, 1, 2, 3, 4, 99, 5 * NEAR, 5 * NEAR + 1, 6 * NEAR + 1, 7, last - 1):
        exact = pytest.approx(float(slow[step - 1]), rel=1e-10)
        assert Buffers(weights, decays).up_to(step) == exact
        assert apart.up_to(step) == exact


@pytest.mark.parametrize("kind", ["square_root", "buffered"])
def test_an_element_has_the_noise_that_two_totals_do_not_share(kind: str) -> None:
    totals = signal.lfilter(entries(kind), [1.0], np.eye(STEPS), axis=0)
    elements = np.diff(totals, axis=0, prepend=0)
    exact = 2.0 * np.sqrt(np.square(elements).sum(axis=1))
    series = series_of(kind)
    for step in (300, 1, 2, 57, 299):
        deviation, half, law = series.of_element(step, 0.95)
        # The server's square root is rounded to integers, and this one is not.
        assert deviation == pytest.approx(exact[step - 1], rel=1e-6)
        assert half == pytest.approx(1.959963984540054 * exact[step - 1], rel=1e-6)
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
