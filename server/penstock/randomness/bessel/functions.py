"""Draw the smaller of two Poisson integers, given their difference.

For independent ``A`` and ``B`` of mean ``m/2`` each and ``A - B = v``, ``min(A, B)`` follows
the Bessel law of order ``|v|`` and argument ``m`` (Yuan, Kalbfleisch 2000):
``P(n) ~ (m/2)^(2n) / (n! (n + |v|)!)``.  It is log-concave (Devroye 2002, "Simulating
Bessel random variables").  Means below 16 are drawn by inversion, from a table for each
order; larger ones by transformed rejection, with the product of two Poisson
probabilities in Loader's form; its error (``rejection.RELATIVE_ERROR``,
``rejection.TAIL_ERROR``) is what is charged.
"""

import itertools
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness import bernoulli, rejection
from penstock.randomness.bernoulli import PRECISION
from penstock.randomness.bessel.law import log_skellam
from penstock.randomness.inversion.table import Table
from penstock.randomness.pieces import in_pieces
from penstock.randomness.saddle_point import Floats, log_poisson, split
from penstock.randomness.stream import Stream

LARGEST_ARGUMENT = 1 << 53


def bessel(orders: NDArray[np.int64], argument: Fraction, stream: Stream) -> NDArray[np.int64]:
    """Draw one integer for each of ``orders``; both of one shape ``(n,)``.

    Raises ``InvalidInput`` for negative orders and for an argument that is not above 0
    and at most 2^53.
    """
    if not 0 < argument <= LARGEST_ARGUMENT or (len(orders) and orders.min() < 0):
        raise InvalidInput(
            "A Bessel law has orders of at least 0 and an argument above 0 and up to 2^53, not"
            f" {float(argument):g}."
        )
    out = np.zeros(len(orders), dtype=np.int64)

    def piece(at: slice, stream: Stream) -> None:
        for start in range(at.start, at.stop, rejection.CHUNK):
            chunk = slice(start, min(start + rejection.CHUNK, at.stop))
            _fill(orders[chunk], argument, out[chunk], stream)

    in_pieces(len(out), piece, stream)
    return out


def _fill(
    orders: NDArray[np.int64], argument: Fraction, out: NDArray[np.int64], stream: Stream
) -> None:
    mean, _ = moments(orders.astype(np.float64), float(argument))
    large = mean >= rejection.SMALLEST_MEAN
    for value in np.unique(orders[~large]):
        same = np.flatnonzero(~large & (orders == value))
        out[same] = _table(int(value), argument).draw(len(same), stream)
    many = np.flatnonzero(large)
    out[many] = _reject(orders[many], argument, stream)


def moments(orders: Floats, argument: float) -> tuple[Floats, Floats]:
    """Return the mean to a quarter and the variance to a few percent, to place the hat."""
    root = np.hypot(orders, argument)
    variance = argument * argument / (4 * root)
    return argument * argument / (2 * (root + orders)) - variance / root, variance


def _reject(orders: NDArray[np.int64], argument: Fraction, stream: Stream) -> NDArray[np.int64]:
    high, low = split(argument / 2)
    real = orders.astype(np.float64)
    mean, variance = moments(real, float(argument))
    whole = np.floor(mean)
    total = log_skellam(real, float(argument))

    def log_pmf(values: NDArray[np.int64], at: NDArray[np.int64]) -> Floats:
        fewer = np.maximum(values, 0).astype(np.float64)
        more = fewer + real[at]
        logs = log_poisson(fewer, high, (fewer - high) - low) - total[at]
        logs += log_poisson(more, high, (more - high) - low)
        logs[values < 0] = -np.inf
        return logs

    sampler = rejection.TransformedRejection(
        whole.astype(np.int64), mean - whole, np.sqrt(variance), 0.0, stream
    )
    return sampler.draw(log_pmf)


@lru_cache(maxsize=512)
def _table(order: int, argument: Fraction) -> Table:
    with localcontext(PRECISION):
        square = bernoulli.exact_decimal(argument * argument / 4)
        terms = list(_terms(order, square))
        total = sum(terms)
        return Table.of(value / total for value in itertools.accumulate(terms))


def _terms(order: int, square: Decimal) -> Iterator[Decimal]:
    """Yield the probabilities relative to that of 0, until they are negligible."""
    term = Decimal(1)
    for count in itertools.count(1):
        yield term
        following = term * square / (count * (count + order))
        if following < term and following < Decimal(2) ** -260:
            return
        term = following
