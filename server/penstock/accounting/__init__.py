"""What a release costs, what is left, and what all of it amounts to.

* ``budget``       (epsilon, delta) as a Rényi budget at one frozen order: ``account_of``
* ``charges``      the cost of one query for one tier, its sampler's error included
* ``ledger``       exact sums, and the refusal with its numbers
"""

from penstock.accounting.budget import (
    ORDERS,
    Account,
    account_of,
    best_order,
    converted_epsilon,
    renyi_budget,
)
from penstock.accounting.charges import charge, with_numerical
from penstock.accounting.ledger import (
    FAILURE_UNITS,
    LARGEST_LOSS,
    LOSS_UNITS,
    NOTHING,
    Entry,
    Shortfall,
    check,
    entry,
    left_of,
    limit_of,
    share_of,
    total,
)

__all__ = [
    "FAILURE_UNITS",
    "LARGEST_LOSS",
    "LOSS_UNITS",
    "NOTHING",
    "ORDERS",
    "Account",
    "Entry",
    "Shortfall",
    "account_of",
    "best_order",
    "charge",
    "check",
    "converted_epsilon",
    "entry",
    "left_of",
    "limit_of",
    "renyi_budget",
    "share_of",
    "total",
    "with_numerical",
]
