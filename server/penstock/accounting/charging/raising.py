"""Charge a tier for seeing a query more accurately than it was charged for.

The rule of this module: what was charged stays charged, and the refinement is charged
as the law that it has *given what may have been seen*, whatever that was.  Choices made
in between (other queries, or whether to raise at all) may depend on the old release, so
that only the worst conditional cost keeps sums of losses at one order a filter.

For Gaussian noise the refinement is independent of the old release and costs exactly the
difference.  At infinite order the difference is right for all: no release's loss is ever
above its epsilon, so that the sum of the newest ones bounds every course of events.  At
finite orders the plain difference undercharges other laws, since the refinement reveals
more where the old release happened to reveal little: discrete Laplace noise of 8 steps
raised from epsilon 1 to 2 at order 3 charged by difference, 1.755 in all, can be brought
to 1.833 by choosing between the raise and another query of that price.  A total of the
new epsilon, 2, can be brought to 2.042 in the same way (both enumerated by tests).

What holds: whatever was seen, the conditional loss of the refinement lies in a range of
width ``2 eps_new``, since it is the new release's loss, which is in ``[-eps_new,
eps_new]``, less the old one's, which is fixed by then.  Of all laws with losses in such a
range the one on its two ends has the largest divergence (bounded range, Dong, Durfee,
Rogers 2020).  Of a long vector each coordinate is refined by itself, given the old
release, and the sum of their divergences is taken where that is less, unless only the pure epsilon
of the noise holds (``mechanisms.laplace.pure``).  For Poisson and
Skellam noise the conditional law is known, and its divergence, close to the difference, is
taken where that is less.

An account of squared mu is charged what the refinement is by itself, on its lattice
(``gaussian_budget``).

Generalized Gaussian noise is drawn again for every level: nothing is refined, and the new
level is charged in full.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from penstock.accounting.charging.budget import LARGEST_EXPONENT, Account
from penstock.accounting.charging.charges import PURE_MECHANISMS, charge, cheapest
from penstock.accounting.charging.gaussian_budget import gaussian_refinement
from penstock.accounting.charging.ledger import Entry, entry
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.mechanisms.lattice import rounded_up
from penstock.mechanisms.poisson.process import Poisson
from penstock.mechanisms.process import Mechanism
from penstock.mechanisms.skellam.process import Skellam
from penstock.privacy.guarantee import Cost
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity

INDEPENDENT: Final = frozenset({"gaussian"})
"""The mechanisms whose refinement is independent of what was released before."""

TAIL_ORDERS: Final[Sequence[float]] = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
TAIL_SHARES: Final[Sequence[int]] = (4, 8, 12, 16, 20, 24)
"""The parts ``2^-n`` of an account's failures that are tried for a tail."""


def raising(
    mechanism: Mechanism,
    ladder: Ladder,
    *,
    charged: Entry,
    old: Fraction,
    new: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
) -> Entry:
    """Return what is added to ``charged``, the charges at ``old``, to let ``new`` be seen as well.

    ``level_count`` bounds how many levels are ever drawn, those of the raise included. The
    addition is never negative. It is priced at the largest budget that the account ever had, as
    in ``charge``; ``charged`` must be priced in the same way. Raises ``InvalidInput`` as
    ``charge`` does.
    """
    account = account.pricing
    if account.squares:
        cost = gaussian_refinement(
            mechanism,
            ladder,
            old=old,
            new=new,
            sensitivity=sensitivity,
            account=account,
            dimension=dimension,
            level_count=level_count,
        )
        return entry(cost)
    if mechanism.name in INDEPENDENT or math.isinf(account.order):
        whole = entry(charge(mechanism, ladder, new, sensitivity, account, dimension, level_count))
        return Entry(max(whole.loss - charged.loss, 0), max(whole.failure - charged.failure, 0))
    if isinstance(mechanism, GeneralizedGaussian):
        return entry(charge(mechanism, ladder, new, sensitivity, account, dimension, level_count))
    costs = []
    for ideal, epsilon in _refinements(mechanism, old, new, sensitivity, account):
        own = min(epsilon, account.epsilon, LARGEST_EXPONENT)
        ways = mechanism.numerical_charges(ladder, dimension, level_count, account.order, own)
        # The others bound moments of the noise itself, and say nothing about the refinement.
        costs += [Cost(ideal.loss, ideal.failure + way.failure) for way in ways if way.factor == 1]
    return entry(cheapest(costs, account))


def refinement_loss(old_epsilon: float, new_epsilon: float, order: float) -> float:
    """Return the largest divergence of a pure refinement from ``old_epsilon`` to ``new_epsilon``.

    Given an old release whose loss was ``x``, of at most ``old_epsilon`` either way, the
    losses lie between ``a = -new_epsilon - x`` and ``b = a + 2 new_epsilon``.  With
    ``r = e^a`` and ``c = (K^order - 1) / (K - 1)`` for ``K = e^(2 new_epsilon)``, a law on
    the two ends has the moment ``r^(order-1) (c - (c-1) r)``, which is largest at
    ``r = c (order-1) / ((c-1) order)`` or the end of the range nearest to that.
    """
    if new_epsilon == 0:
        return 0.0
    if not math.isfinite(old_epsilon + new_epsilon):
        return math.inf
    width = 2 * new_epsilon
    log_c = order * width + _log1mexp(order * width) - width - _log1mexp(width)
    best = log_c + math.log((order - 1) / order) - (log_c + _log1mexp(log_c))
    end = min(max(best, -new_epsilon - old_epsilon), old_epsilon - new_epsilon, 0.0)
    # c - (c-1) r = c (1 - r + r/c)
    moment = (order - 1) * end + log_c + math.log(-math.expm1(end) + math.exp(end - log_c))
    slack = 2.0**-48 * (width * order + 1) / (order - 1)
    return min(max(moment / (order - 1), 0.0) + slack, old_epsilon + new_epsilon)


def apart_loss(new: Fraction, sensitivity: Sensitivity, order: float) -> float:
    """Return the largest divergence of a refinement to scale ``new``, coordinate by coordinate.

    Given the old release, coordinates are refined independently, and the losses of one that moves
    by ``s`` lie in a range of width ``2 s/new``.  A range of width ``w`` has a divergence of at
    most ``order w^2 / 8`` (Cesar, Rogers 2021: bounded range implies concentrated privacy).
    """
    return rounded_up(Fraction(order) * sensitivity.l2_squared / (2 * new * new))


def _refinements(
    mechanism: Mechanism,
    old: Fraction,
    new: Fraction,
    sensitivity: Sensitivity,
    account: Account,
) -> list[tuple[Cost, float]]:
    """Return valid ideal costs, each with an epsilon that the refinement alone keeps."""
    order = account.order
    if mechanism.name in PURE_MECHANISMS:
        before = mechanism.guarantee(old, sensitivity, account.delta).epsilon
        after = mechanism.guarantee(new, sensitivity, account.delta).epsilon
        whole = Cost(refinement_loss(before, after, order), 0.0)
        if isinstance(mechanism, PureLaplace):
            return [(whole, before + after)]
        apart = Cost(apart_loss(new, sensitivity, order), 0.0)
        return [(whole, before + after), (apart, before + after)]
    curve = [(order, mechanism.cost(new, sensitivity, order)) for order in TAIL_ORDERS]
    costs = []
    for share in TAIL_SHARES:
        tail = account.failure_limit * 2.0**-share
        epsilon, failure = _bounded(curve, tail)
        # Only the new release's loss bounds that of the old one.
        costs.append((Cost(refinement_loss(epsilon, epsilon, order), failure), 2 * epsilon))
        if isinstance(mechanism, Poisson | Skellam):
            exact = mechanism.refinement(old, new, sensitivity, order, tail)
            costs.append((Cost(exact.loss, exact.failure + failure), 2 * epsilon))
    return costs


def _bounded(curve: Sequence[tuple[float, Cost]], tail: float) -> tuple[float, float]:
    """Return an epsilon that bounds the loss both ways up to a probability, and that probability.

    By Markov's inequality, ``P(loss > epsilon) <= exp((a-1) (L(a) - epsilon))`` at any
    order ``a`` of ``curve``, where ``L`` is that of the law without its own failures.
    Twice that probability, and twice the law's own failures, cover both signs.
    """
    epsilon, failure = math.inf, 1.0
    for order, cost in curve:
        bound = cost.loss + math.log(1 / tail) / (order - 1)
        if bound < epsilon:
            epsilon, failure = bound, cost.failure
    return epsilon, 2 * (tail + failure)


def _log1mexp(value: float) -> float:
    """Return ``log(1 - e^-value)`` for ``value`` above 0."""
    return math.log(-math.expm1(-value)) if value < 1 else math.log1p(-math.exp(-value))
