"""Tabulate privacy-loss distributions of single releases on one grid of losses.

The rule of this module: mass is only ever moved to greater losses, or split between
the two neighbors of a loss so that the masses under both hypotheses stay what they are
(Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the Dots"), so that no
privacy profile falls below the true one.

All tables are symmetric: their profile is that of the worse of the two orders of a
neighboring pair, coordinate by coordinate.  Such a pair dominates the mechanism (Zhu,
Dong, Wang 2022, Proposition 8), and dominating pairs compose (Theorem 10), also if a unit moves one
answer up and another one down, which composing order by order would miss.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from penstock.mechanisms.loss_table import FloatVector, LossTable, joined, split_cells
from penstock.mechanisms.poisson.tails import below
from penstock.randomness.bessel.law import log_skellam
from penstock.randomness.saddle_point import log_poisson

_LOG_OUTCOMES: Final = 16


def worst_of(tables: Sequence[LossTable]) -> LossTable:
    """Return the table whose profile is the largest of ``tables`` at every loss."""
    if len(tables) == 1:
        return tables[0]
    width, size = tables[0].width, max(len(table.upper) for table in tables)
    profile = np.max([table.profile(size) for table in tables], axis=0)
    tails = -np.diff(profile) / -math.expm1(-width)
    upper = tails - math.exp(-width) * np.append(tails[1:], 0.0)
    return LossTable(width, np.maximum(upper, 0.0), float(profile[-1]))


def gaussian_table(mu: float, width: float, tail: float) -> LossTable:
    """Tabulate a real Gaussian, ``mu = Delta2 / sigma``; up to ``tail`` mass goes to infinity.

    Under the first hypothesis the loss is normal with mean ``mu^2/2`` and variance
    ``mu^2`` (Balle, Wang 2018, Lemma 3).
    """
    from scipy.special import erfcx, ndtr  # imported late: slow to import

    reach = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / tail))
    losses = width * np.arange(math.ceil(reach / width) + 1)
    low, high = losses / mu - mu / 2, losses / mu + mu / 2
    beyond = ndtr(-low)
    # e^loss times the other hypothesis' tail, written so that nothing overflows
    scaled = np.exp(-low * low / 2) / 2 * erfcx(high / math.sqrt(2))
    masses = beyond[:-1] - beyond[1:]
    others = scaled[:-1] - math.exp(-width) * scaled[1:]
    return LossTable(width, split_cells(masses, others, width), float(beyond[-1]))


def laplace_table(decay: float, shift: int, width: float) -> LossTable:
    """Tabulate discrete Laplace noise, ``P(k) ~ exp(-decay |k|)``, against its shift.

    The outcome ``k`` has loss ``decay (shift - 2k)`` for ``0 <= k <= shift``, and that of
    the nearer end beyond.  Outcomes are summed cell by cell of the grid in closed form,
    whatever their number.
    """
    top = decay * shift
    cells = np.arange(math.floor(top / width) + 1)
    reached = np.floor((shift - np.append(cells, len(cells)) * width / decay) / 2)
    last = np.clip(reached, 0, None)[:-1]
    count = last - np.clip(reached, 0, None)[1:]
    normalizer = 1 + math.exp(-decay)
    masses = np.exp(-decay * (last - count + 1)) * -np.expm1(-decay * count) / normalizer
    offsets = decay * (shift - 2 * last + count - 1) - cells * width
    raised = masses * np.clip(np.expm1(-offsets) / math.expm1(-width), 0.0, 1.0)
    atom = -math.expm1(-(top - float(cells[-1]) * width)) / -math.expm1(-width)
    kept = masses - raised
    kept[-1] += max(1 - atom, 0.0) / normalizer
    raised[-1] += min(atom, 1.0) / normalizer
    return LossTable(width, joined(kept, raised), 0.0)


def table_of_outcomes(
    losses: FloatVector, masses: FloatVector, infinite: float, width: float
) -> LossTable:
    """Tabulate outcomes one by one: ``masses`` under the first hypothesis at positive ``losses``.

    The lower half of the table follows from the upper one by symmetry, so this is a
    privacy-loss distribution only as an ingredient of ``worst_of``.
    """
    cells = np.floor(losses / width).astype(np.int64)
    offsets = losses - cells * width
    raised = masses * np.clip(np.expm1(-offsets) / math.expm1(-width), 0.0, 1.0)
    kept_by_cell, raised_by_cell = np.zeros((2, int(cells.max(initial=0)) + 1))
    np.add.at(kept_by_cell, cells, masses - raised)
    np.add.at(raised_by_cell, cells, raised)
    return LossTable(width, joined(kept_by_cell, raised_by_cell), infinite)


def poisson_table(mean: float, shift: int, width: float, tail: float) -> LossTable:
    """Tabulate Poisson noise against its shift, the worse of both orders at every loss.

    The loss of the outcome ``x`` is ``ln P(x)/P(x - shift)``, falling in ``x``; outcomes
    below ``shift`` are possible under one hypothesis only.  Up to ``tail`` mass on either side
    becomes an infinite loss; above, all of it does (Bernstein's inequality). If there are too many
    outcomes, runs of them are put in one place, narrower than 2^-11 of a standard deviation: an
    engineering bound.
    """
    deviations = math.sqrt(2 * math.log(1 / tail))
    lowest = max(math.floor(mean - deviations * math.sqrt(mean)), shift)
    above = math.ceil(mean + deviations * math.sqrt(mean) + deviations**2 / 3)
    run = max((above + shift - lowest) >> _LOG_OUTCOMES, 1)
    outcomes = np.arange(lowest, above + shift + run, run, dtype=np.float64)
    near, far = _log_run(outcomes, mean, run), _log_run(outcomes - shift, mean, run)
    losses = near - far
    ahead, falling = losses > 0, losses < 0
    return worst_of(
        (
            table_of_outcomes(losses[ahead], np.exp(near[ahead]), below(mean, lowest), width),
            table_of_outcomes(-losses[falling], np.exp(far[falling]), tail, width),
        )
    )


def skellam_table(variance: float, shift: int, width: float, tail: float) -> LossTable:
    """Tabulate Skellam noise against its shift, which is the same pair the other way round.

    The loss of the outcome ``x`` is ``ln P(x)/P(x - shift)``, falling in ``x`` and 0 half
    way.  Up to ``tail`` mass below becomes an infinite loss (Bernstein's inequality).  Outcomes are
    put together as for Poisson noise: an engineering bound.
    """
    nats = 2 * math.log(1 / tail)
    lowest = math.floor(-math.sqrt(nats * variance) - nats / 3)
    run = max((shift - lowest) >> _LOG_OUTCOMES, 1)
    middles = np.arange(lowest, shift + 1, run, dtype=np.float64) + run // 2
    near = log_skellam(middles, variance) + math.log(run)
    losses = near - log_skellam(middles - shift, variance) - math.log(run)
    ahead = losses > 0
    return table_of_outcomes(losses[ahead], np.exp(near[ahead]), tail, width)


def _log_run(outcomes: FloatVector, mean: float, run: int) -> FloatVector:
    """Return the log-probability of ``run`` outcomes from each of ``outcomes`` on."""
    middle = outcomes + run // 2
    return log_poisson(middle, mean, middle - mean) + math.log(run)
