"""Draw binomial noise, each draw with its own number of trials.

Vectors so long that tables pay are sums of tabulated draws, within ``3 * 2^-177`` of the law in
total variation (``penstock.randomness.inversion.sums``).  In others small means are drawn by
waiting times (Devroye 1986, section X.4): the successes are counted by adding up geometric gaps,
which is exact up to ``geometric.ERROR`` a gap.  From a mean of 16 on, transformed rejection takes
over, with Loader's form of the probabilities; its error (``rejection.RELATIVE_ERROR``,
``rejection.TAIL_ERROR``) is what is charged.  numpy's own sampler (before 2.5) has wrong signs in
its Stirling series; its probabilities are off by up to 3.4e-3 (see the README).
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness import rejection
from penstock.randomness.bernoulli import exact_decimal
from penstock.randomness.geometric import Geometric
from penstock.randomness.inversion.sums import BinomialSums
from penstock.randomness.pieces import in_pieces
from penstock.randomness.saddle_point import Floats, log_poisson, log_self, product, split
from penstock.randomness.stream import Stream

MOST_TRIALS = 1 << 53


def binomial(
    trials: NDArray[np.int64],
    chance: Fraction,
    stream: Stream,
    out: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Draw successes among ``trials``, each with probability ``chance``; one shape ``(n,)``.

    They are written to ``out``, which may be ``trials`` itself, if it is given.  Raises
    ``InvalidInput`` for a chance outside of 0 to 1, or trials outside of 0 to 2^53.
    """
    if not 0 <= chance <= 1:
        raise InvalidInput(f"A chance must be from 0 to 1, this one is {float(chance):g}.")
    if len(trials) and not 0 <= trials.min() <= trials.max() <= MOST_TRIALS:
        raise InvalidInput("A number of trials must be from 0 to 2^53.")
    drawn = np.empty_like(trials) if out is None else out
    if chance in (0, 1) or not len(trials):
        return np.multiply(trials, int(chance), out=drawn)
    tables = BinomialSums.for_trials(trials, chance)

    def piece(at: slice, stream: Stream) -> None:
        if tables is not None:
            tables.fill(trials[at], drawn[at], stream)
            return
        for start in range(at.start, at.stop, rejection.CHUNK):
            chunk = slice(start, min(start + rejection.CHUNK, at.stop))
            drawn[chunk] = _draw(trials[chunk], chance, stream)

    in_pieces(len(trials), piece, stream)
    return drawn


def _draw(trials: NDArray[np.int64], chance: Fraction, stream: Stream) -> NDArray[np.int64]:
    if chance > Fraction(1, 2):
        failures = _draw(trials, 1 - chance, stream)
        return np.subtract(trials, failures, out=failures)
    out = np.zeros(len(trials), dtype=np.int64)
    large = trials >= -(-rejection.SMALLEST_MEAN // chance)
    few = np.flatnonzero(~large & (trials > 0))
    out[few] = _wait(trials[few], chance, stream)
    many = np.flatnonzero(large)
    out[many] = _reject(trials[many], chance, stream)
    return out


def _wait(trials: NDArray[np.int64], chance: Fraction, stream: Stream) -> NDArray[np.int64]:
    """Count the successes, at ``(gap + 1) + (gap + 1) + ...``, that are within ``trials``."""
    out = np.zeros(len(trials), dtype=np.int64)
    gaps = Geometric.of(exact_decimal(1 - chance))
    waiting, reached = np.arange(len(trials)), np.zeros(len(trials), dtype=np.int64)
    while len(waiting):
        limit = trials[waiting]
        expected = float((limit - reached).max()) * float(chance)
        columns = 1 + int(expected)
        # Capped, a gap still leads beyond the last trial, and sums cannot overflow.
        step = gaps.draw(len(waiting) * columns, stream).reshape(len(waiting), columns)
        np.minimum(step, limit[:, None], out=step)
        step += 1
        place = np.cumsum(step, axis=1)
        place += reached[:, None]
        out[waiting] += (place <= limit[:, None]).sum(axis=1)
        last = place[:, -1]
        more = last < limit
        waiting, reached = waiting[more], last[more]
    return out


def _reject(trials: NDArray[np.int64], chance: Fraction, stream: Stream) -> NDArray[np.int64]:
    high, low = split(chance)
    n = trials.astype(np.float64)
    mean, rest = product(n, high, low)
    whole = np.floor(mean)
    log_all = log_self(n)

    def log_pmf(values: NDArray[np.int64], at: NDArray[np.int64]) -> Floats:
        total, center = n[at], mean[at]
        x = np.minimum(np.maximum(values, 0).astype(np.float64), total)
        deviation = (x - center) - rest[at]
        logs = log_poisson(x, center, deviation) - log_all[at]
        logs += log_poisson(total - x, total - center, -deviation)
        logs[(values < 0) | (values > trials[at])] = -np.inf
        return logs

    sampler = rejection.TransformedRejection(
        whole.astype(np.int64),
        (mean - whole) + rest,
        np.sqrt(mean * (1 - high)),
        high,
        stream,
    )
    return sampler.draw(log_pmf)
