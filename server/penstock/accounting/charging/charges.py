"""Charge one query to one tier: the loss of its law, and the error of its sampler.

The rule of this module: no release is charged for its ideal law alone.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from penstock.accounting.charging.budget import LARGEST_EXPONENT, Account
from penstock.accounting.charging.gaussian_budget import gaussian_charge
from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Cost
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity

PURE_MECHANISMS: Final = frozenset({"laplace"})
"""The mechanisms whose guarantee is pure, so that it may be charged as such."""


def charge(
    mechanism: Mechanism,
    ladder: Ladder,
    level: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
) -> Cost:
    """Price a query of ``dimension`` values and up to ``level_count`` levels at ``level``.

    Of the valid ways to charge the sampler's error, the one that uses up the smallest part of the
    account is taken; loss and failure count alike. The query is priced at the largest budget that
    the account ever had, and so must be repriced when that grows: the sampler's cost grows with it,
    and another way may become cheaper. Raises ``InvalidInput`` if the mechanism states none at the
    account's order.
    """
    account = account.pricing
    require_admitted(mechanism.name, account.delta)
    if account.squares:
        return gaussian_charge(
            mechanism, ladder, level, sensitivity, account, dimension, level_count
        )
    ideal = mechanism.cost(level, sensitivity, account.order)
    ways = mechanism.numerical_charges(
        ladder, dimension, level_count, account.order, min(account.epsilon, LARGEST_EXPONENT)
    )
    costs = [Cost(ideal.loss * way.factor + way.loss, ideal.failure + way.failure) for way in ways]
    if mechanism.name in PURE_MECHANISMS:
        own = mechanism.guarantee(level, sensitivity, account.delta).epsilon
        if own < min(account.epsilon, LARGEST_EXPONENT):
            ways = mechanism.numerical_charges(ladder, dimension, level_count, account.order, own)
            loss = pure_loss(own, account.order)
            costs += [Cost(loss, way.failure) for way in ways if way.factor == 1]
    return cheapest(costs, account)


def cheapest(costs: Iterable[Cost], account: Account) -> Cost:
    """Return the cost that uses up the smallest part of the account; the first among equals."""
    valid = [cost for cost in costs if not math.isnan(cost.loss + cost.failure)]
    if not valid:
        raise InvalidInput(
            "This mechanism states no way to charge its sampler's error at the order"
            f" {account.order:g} of this budget; choose another mechanism or a larger epsilon."
        )

    def part(cost: Cost) -> float:
        if not account.failure_limit:
            return math.inf if cost.failure else cost.loss
        return cost.loss / account.limit + cost.failure / account.failure_limit

    return min(valid, key=part)


def require_admitted(name: str, delta: float) -> None:
    """Raise ``InvalidInput`` if a dataset's ``delta`` of 0 rules the mechanism out."""
    if delta == 0 and name not in PURE_MECHANISMS:
        raise InvalidInput(
            f"A dataset with delta 0 admits only pure noise, which is that of"
            f" {', '.join(sorted(PURE_MECHANISMS))}; {name} noise breaks every epsilon with some"
            " probability. Choose laplace, or register the data with a delta such as 1e-6.",
            pointer="/mechanism",
        )


def pure_loss(epsilon: float, order: float) -> float:
    """Return the largest Rényi divergence of ``order`` that a pure ``epsilon`` admits, rounded up.

    It is that of randomized response. It is also the cost of an ``(epsilon, delta)``-private pair,
    with ``delta`` as the failure probability: such a pair is post-processing of one that is
    revealed completely with probability ``delta`` and is randomized response otherwise (Kairouz,
    Oh, Viswanath 2015). A sampler within ``tau`` of a pure law thus costs this and ``(1 +
    e^epsilon) tau`` with the release's own epsilon. That matters for budgets so large that with
    their epsilon ``tau`` would count.
    """
    if math.isinf(order):
        return epsilon
    both = math.log1p(math.exp(-(2 * order - 1) * epsilon)) - math.log1p(math.exp(-epsilon))
    slack = 2.0**-50 * (epsilon + 1 / (order - 1))
    return min(epsilon, max(epsilon + both / (order - 1), 0.0) + slack)
