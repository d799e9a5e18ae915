"""Test the two inequalities and the cells on which transformed rejection rests."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.randomness.poisson import poisson
from penstock.randomness.rejection import REACH, RELATIVE_ERROR, SMALLEST_MEAN, TransformedRejection

Floats = NDArray[np.float64]
LogPmf = Callable[[Floats], Floats]

_NEAR = np.concatenate([np.geomspace(1e-3, 0.5, 8_001), np.linspace(0.01, 0.5, 16_001)])
_ONE = np.zeros(1, dtype=np.int64)


def _hat(mean: float, deviation: float, skew: float = 0.0) -> TransformedRejection:
    whole = np.floor(mean)
    return TransformedRejection(
        np.array([whole], dtype=np.int64),
        np.array([mean - whole]),
        np.array([deviation]),
        skew,
        Stream.from_key(bytes(32)),
    )


def _margins(hat: TransformedRejection, log_pmf: LogPmf) -> tuple[float, float]:
    """Return how far the hat is above the law, and the law above the piece accepted unseen."""
    window = float(2 ** hat._window[0])
    highest, lowest = 0.0, np.inf
    for side in (-1, 1):
        bent = side * hat.bend(_NEAR, np.zeros(len(_NEAR), dtype=np.int64))
        cell = hat._whole[0] + np.floor(bent / window + hat._part[0]) * window
        for value in {cell[0]: cell, window: cell + window - 1}.values():
            share = np.exp(log_pmf(value)) * (hat._a[0] / _NEAR**2 + hat._b[0]) / hat._ceiling[0]
            highest = max(highest, float(share.max()))
            lowest = min(lowest, float((share[_NEAR >= 0.07] - hat._inside[0]).min()))
    return 1 - highest, lowest


SOME_MEANS = (*np.arange(16, 40, 5.65), *np.geomspace(40, 1e10, 12))
MANY_MEANS = (*np.arange(16, 40, 1.13), *np.geomspace(40, 1e10, 60))
means = pytest.mark.parametrize(
    "means",
    [SOME_MEANS, pytest.param(MANY_MEANS, marks=pytest.mark.nightly)],
    ids=["some means", "many means"],
)


def _laws(means: Iterable[float]) -> list[tuple[str, TransformedRejection, LogPmf]]:
    laws: list[tuple[str, TransformedRejection, LogPmf]] = []
    for mean in means:
        laws.append((f"poisson {mean}", _hat(mean, mean**0.5), partial(_poisson, mean=mean)))
        for p in (0.5, 0.45, 0.3, 0.1, 0.01):
            n = -(-mean // p)
            hat = _hat(n * p, (n * p * (1 - p)) ** 0.5, p)
            laws.append((f"binomial {n} {p}", hat, partial(_binomial, n=n, p=p)))
    return laws


def _poisson(k: Floats, mean: float) -> Floats:
    logs: Floats = stats.poisson.logpmf(k, mean)
    return logs


def _binomial(k: Floats, n: float, p: float) -> Floats:
    logs: Floats = stats.binom.logpmf(k, n, p)
    return logs


@means
def test_the_hat_is_above_the_law_and_the_shortcut_below_it(means: Iterable[float]) -> None:
    for name, hat, log_pmf in _laws(means):
        above, inside = _margins(hat, log_pmf)
        assert above > 0.004, name
        assert inside > 0.002, name


@means
def test_a_hat_two_percent_lower_would_not_do(means: Iterable[float]) -> None:
    margins = []
    for _, hat, log_pmf in _laws(means):
        hat._ceiling *= 0.98
        margins.append(_margins(hat, log_pmf)[0])
    assert min(margins) < 0


def _cell_errors(hat: TransformedRejection, cells: list[int]) -> list[float]:
    """Return how far cells of the bent square are from width 1.

    Widths are in windows, and the cells are as the floats cut them.
    """
    window = float(2 ** hat._window[0])
    edges = {edge: _first_point(hat, edge, window) for cell in cells for edge in (cell, cell + 1)}
    with mpmath.workdps(50):
        places = {edge: _bent_exactly(hat, point) / window for edge, point in edges.items()}
        return [float(abs(places[cell + 1] - places[cell] - 1)) for cell in cells]


def _first_point(hat: TransformedRejection, edge: int, window: float) -> int:
    """Return the largest 63 bits that are bent to ``edge`` windows or more.

    The point is on the side of edge > 0.
    """
    low, high = 0, 1 << 63
    while high - low > 1:
        middle = (low + high) // 2
        us = (np.array([middle], dtype=np.uint64).astype(np.float64) + 0.5) * 2.0**-64
        reached = hat.bend(us, _ONE)[0] / window + hat._part[0] >= edge
        low, high = (middle, high) if reached else (low, middle)
    return low


def _bent_exactly(hat: TransformedRejection, point: int) -> mpmath.mpf:
    us = (mpmath.mpf(point) + mpmath.mpf(1) / 2) / mpmath.mpf(2) ** 64
    a, b = mpmath.mpf(float(hat._a[0])), mpmath.mpf(float(hat._b[0]))
    return (2 * a / us + b) * (mpmath.mpf(1) / 2 - us)


@pytest.mark.parametrize("deviation", [4.0, 100.0, 511.0, 513.0, 2.0**15 + 1, 2.0**25])
def test_cells_are_as_wide_as_the_stated_error_asks(deviation: float) -> None:
    hat = _hat(deviation**2, deviation)
    widest = int(deviation / 2 ** hat._window[0])
    cells = sorted({1, 2, *range(1, 5 * widest, max(1, widest // 40))})
    errors = np.array(_cell_errors(hat, cells))
    weights = np.exp(-0.5 * (np.array(cells) / widest) ** 2)
    assert np.sqrt((weights * errors**2).sum() / weights.sum()) < RELATIVE_ERROR / 2


def test_cells_of_one_integer_would_be_too_uneven_for_wide_laws() -> None:
    hat = _hat(2.0**50, 2.0**25)
    hat._window[:] = 0
    errors = np.array(_cell_errors(hat, list(range(1, 1 << 25, 1 << 19))))
    assert np.sqrt((errors**2).mean()) > RELATIVE_ERROR


@pytest.mark.parametrize("mean", [SMALLEST_MEAN, 1_000, 1 << 30, 1 << 50])
def test_no_draw_is_further_off_than_stated(mean: int, stream: Stream) -> None:
    drawn = poisson(Fraction(mean), 50_000, stream)
    assert drawn.min() >= 0
    assert abs(drawn - mean).max() <= REACH * mean**0.5 + 65


def test_tails_that_floats_cannot_hold_are_turned_down() -> None:
    hat = _hat(1e6, 1e3)
    bent = np.array([1e300, -1e300, 5.0])
    value, near = hat._integer(bent, np.zeros(3, dtype=np.int64))
    assert near.tolist() == [False, False, True]
    assert abs(value - 10**6).max() <= REACH * 1e3 + 65


def test_means_beyond_the_integers_are_refused(stream: Stream) -> None:
    for mean in (Fraction(-1), Fraction((1 << 52) + 1)):
        with pytest.raises(InvalidInput, match=r"from 0 to 2\^52"):
            poisson(mean, 1, stream)
