"""What one query costs one tier: its law's own loss, and its sampler's error.

The rule this module keeps: no release is charged for its ideal law alone.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from penstock.accounting.budget import Account
from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism, NumericalCharge
from penstock.privacy import Cost, Ladder, Sensitivity

_LARGEST_EXPONENT: Final = 700.0
"""Beyond this ``exp`` overflows, and any failure multiplied by it is above 1 already."""


def charge(
    mechanism: Mechanism,
    ladder: Ladder,
    level: Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    levels: int,
) -> Cost:
    """The cost of a query of ``dimension`` values and up to ``levels`` levels at ``level``.

    Of the valid ways to charge the sampler's error the one is taken that uses up the
    smaller part of the account, loss and failure counted alike.  Raises
    ``InvalidInput`` where the mechanism states none at the account's order.
    """
    ideal = mechanism.cost(level, sensitivity, account.order)
    ways = mechanism.numerical_charges(
        ladder, dimension, levels, account.order, min(account.epsilon, _LARGEST_EXPONENT)
    )
    return with_numerical(ideal, ways, account)


def with_numerical(ideal: Cost, ways: Sequence[NumericalCharge], account: Account) -> Cost:
    """``ideal`` together with the cheapest of ``ways``; the first among equals."""
    applicable = [way for way in ways if math.isfinite(way.factor) and way.factor >= 1]
    if not applicable:
        raise InvalidInput(
            "This mechanism states no way to charge its sampler's error at the order"
            f" {account.order:g} of this budget; choose another mechanism or a larger epsilon."
        )

    def part(way: NumericalCharge) -> float:
        increase = ideal.loss * (way.factor - 1)
        return increase / account.limit + way.failure / account.failure_limit

    cheapest = min(applicable, key=part)
    return Cost(ideal.loss * cheapest.factor, ideal.failure + cheapest.failure)
