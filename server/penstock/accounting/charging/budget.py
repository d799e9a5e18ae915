"""Turn a budget (epsilon, delta) into what the ledger adds up: a Rényi budget at one order.

The rule of this module: the order depends only on the (epsilon, delta) that a budget was first set
to.  It is never chosen by looking at what was spent, so sums of losses at that order stay below the
limit, no matter who chose the queries and what they had seen before (Feldman, Zrnic 2021, the Rényi
privacy filter: adaptively chosen losses at one fixed order add up).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import epsilon_at, mu_at

ORDERS: Final[tuple[float, ...]] = (
    *(hundredths / 100 for hundredths in range(101, 200)),
    *(tenths / 10 for tenths in range(20, 100)),
    *(float(order) for order in range(10, 1025)),
)
"""The grid of orders: part of the definition of an account, so it must never change."""

SQUARES: Final = 2.0**30
"""The placeholder for the order of accounts whose losses are squares of mu (``gaussian_budget``).

It is above every order of the grid, so that no account of Rényi losses has it.
"""

LARGEST_EXPONENT: Final = 700.0
"""The largest argument of ``exp``: beyond it, a failure multiplied by it is above 1 already."""

FAILURE_SHARE: Final = Fraction(1, 10)
"""The part of delta that is kept for failures; the conversion gets the rest."""

LARGEST_EPSILON: Final = 1e6
SMALLEST_DELTA: Final = 1e-15

_SLACK: Final = 2.0**-48
"""Relative slack, far above the rounding errors of the few operations in a conversion."""


@dataclass(frozen=True)
class Account:
    """Hold what one tier may learn from one dataset, as the ledger compares it.

    ``limit`` bounds the sum of the Rényi divergences of ``order`` (in nats, rounded
    down), or of squared mu if the order is ``SQUARES``; ``failure_limit`` bounds the sum of the
    failure probabilities. If both hold, all that the tier sees is together ``(epsilon,
    delta)``-differentially private. ``highest`` is the largest epsilon that the account ever had,
    if that is above ``epsilon``.
    """

    epsilon: float
    delta: float
    order: float
    limit: float
    failure_limit: float
    highest: float | None = None

    @property
    def promised(self) -> float:
        """Return the largest epsilon ever granted: answers may have been released under it."""
        return self.epsilon if self.highest is None else self.highest

    @property
    def pricing(self) -> "Account":
        """Return the account by which queries are priced: this one, at ``promised``.

        So a price is the same before and after a budget is lowered, and does not depend on the
        steps in which the budget reached its largest value.
        """
        return account_of(self.promised, self.delta, self.order) if self.highest else self

    @property
    def squares(self) -> bool:
        """Return True if its losses are squares of mu, which only Gaussian releases have."""
        return self.order == SQUARES

    @property
    def of_variance(self) -> float:
        """Return the loss, in its measure, of a Gaussian release of variance and sensitivity 1."""
        return 1.0 if self.squares else self.order / 2

    @property
    def called(self) -> str:
        """Return the name of its loss measure, to begin a sentence with."""
        if self.squares:
            return "A squared mu"
        pure = math.isinf(self.order)
        return "An epsilon" if pure else f"A Rényi loss at order {self.order:g}"


def account_of(
    epsilon: float, delta: float, order: float | None = None, highest: float = 0.0
) -> Account:
    """Return the account of a budget.

    When a budget is raised or lowered, ``order`` is that of its first version: an order is chosen
    once. It is ``SQUARES`` for an account of only Gaussian releases, whose ``sqrt(limit)`` is the
    largest mu whose curve is at most nine tenths of ``delta`` at ``epsilon`` (Dong, Roth, Su 2022,
    Corollary 2.13), rounded down.  ``highest`` is the largest epsilon of all versions.  Raises
    ``InvalidInput`` if either number is out of range, or if they leave nothing to spend.

    At ``delta`` 0 the order is infinite and nothing is kept for failures: pure losses add
    up to ``epsilon`` itself.
    """
    require_epsilon(epsilon)
    require_delta(delta)
    above = highest if highest > epsilon else None
    if delta == 0:
        if order == SQUARES:
            raise InvalidInput(
                "An account of Gaussian releases needs a delta above 0, such as 1e-6; at delta 0"
                " take one of Rényi losses, which admits laplace noise.",
                pointer="/delta",
            )
        return Account(epsilon, 0.0, math.inf, epsilon, 0.0, above)
    failure_limit = float(Fraction(delta) * FAILURE_SHARE)
    for_conversion = float(Fraction(delta) * (1 - FAILURE_SHARE))

    if order == SQUARES:
        mu = mu_at(epsilon, for_conversion)
        return Account(epsilon, delta, order, math.nextafter(mu * mu, 0), failure_limit, above)

    def budget(at: float) -> float:
        return renyi_budget(at, epsilon, for_conversion)

    chosen = best_order(budget) if order is None else order
    limit = budget(chosen)
    if limit <= 0:
        raise InvalidInput(_nothing_left(epsilon, delta, for_conversion, order), pointer="/epsilon")
    return Account(epsilon, delta, chosen, limit, failure_limit, above)


def best_order(budget: Callable[[float], float]) -> float:
    """Return the order of the grid at which most Gaussian releases fit.

    A Gaussian release costs in proportion to the order, so that is the maximum of
    ``budget(order) / order``; among equals the smallest.
    """
    return max(ORDERS, key=lambda order: budget(order) / order)


def renyi_budget(order: float, epsilon: float, delta: float) -> float:
    """Return the largest Rényi divergence of ``order`` that implies ``(epsilon, delta)``.

    It is the conversion of Canonne, Kamath, Steinke (2020), Proposition 12, solved for the
    divergence and rounded down. It may be negative: then no divergence of this order implies it.
    """
    gain = _gain(order, delta)
    return epsilon + gain - _SLACK * (epsilon + abs(gain) + math.log(1 / delta) / (order - 1))


def converted_epsilon(order: float, loss: float, delta: float) -> float:
    """Return the epsilon that a Rényi divergence ``loss`` of ``order`` implies at ``delta``.

    It is the inverse of ``renyi_budget``, rounded up; at infinite order it is the loss itself, and
    for squares of mu the epsilon of the normal curve.
    """
    if math.isinf(order):
        return loss
    if order == SQUARES:
        return epsilon_at(delta, math.nextafter(math.sqrt(loss), math.inf)) if loss else 0.0
    gain = _gain(order, delta)
    slack = _SLACK * (loss + abs(gain) + math.log(1 / delta) / (order - 1))
    return max(0.0, loss - gain + slack)


def _gain(order: float, delta: float) -> float:
    return math.log(delta * order) / (order - 1) - math.log1p(-1 / order)


def require_epsilon(epsilon: float) -> None:
    """Raise ``InvalidInput`` unless a budget may have this epsilon."""
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise InvalidInput(
            f"A budget's epsilon must be a number above 0 and up to {LARGEST_EPSILON:g}, not"
            f" {epsilon}.",
            pointer="/epsilon",
        )


def require_delta(delta: float) -> None:
    """Raise ``InvalidInput`` unless budgets may have this delta."""
    if delta != 0 and not SMALLEST_DELTA <= delta < 1:
        raise InvalidInput(
            f"A budget's delta must be 0 or a probability of at least {SMALLEST_DELTA:g} and below"
            f" 1, not {delta}. 1e-6 is usual; 0 admits only laplace noise.",
            pointer="/delta",
        )


def _nothing_left(epsilon: float, delta: float, for_conversion: float, order: float | None) -> str:
    orders = ORDERS if order is None else (order,)
    smallest = min(-_gain(at, for_conversion) for at in orders) * 1.01
    where = "" if order is None else f", at the order {order:g} that this budget was first set to,"
    return (
        f"A budget of epsilon {epsilon:g} at delta {delta:g}{where} leaves nothing to spend: the"
        f" conversion to (epsilon, delta) alone uses up all of it. Give an epsilon of"
        f" {smallest:.3g} or"
        " more" + (", or a larger delta." if order is None else ".")
    )
