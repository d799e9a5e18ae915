"""Add up charges and refuse what does not fit, in exact integers in any order.

The rule of this module: what is spent is rounded up and what is granted is rounded
down, each once, and from there on nothing is rounded.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

from penstock.errors import InvalidInput
from penstock.privacy.guarantee import Cost

LOSS_UNITS: Final = 2**40
"""Units in one nat."""

FAILURE_UNITS: Final = 2**62
"""Units in a probability of 1."""

LARGEST_LOSS: Final = 2**62
"""The number recorded for any loss from this size up, even an infinite one; no limit reaches it."""


class Granted(Protocol):
    """Describe what an account grants: losses, in its own measure, and failures."""

    @property
    def limit(self) -> float:
        """Return the largest sum of losses."""

    @property
    def failure_limit(self) -> float:
        """Return the largest sum of failure probabilities."""

    @property
    def called(self) -> str:
        """Return the name of its loss measure, to begin a sentence with."""


@dataclass(frozen=True)
class Entry:
    """Hold a cost, or a sum of costs, in units of the ledger."""

    loss: int
    failure: int

    def __add__(self, other: "Entry") -> "Entry":
        return Entry(self.loss + other.loss, self.failure + other.failure)

    @property
    def cost(self) -> Cost:
        """Return the cost in nats and as a probability, for people to read."""
        return Cost(self.loss / LOSS_UNITS, self.failure / FAILURE_UNITS)


NOTHING: Final = Entry(0, 0)


@dataclass(frozen=True)
class Shortfall:
    """Explain why a charge does not fit.

    ``largest_share`` is the largest share of the account that would still fit the loss
    that is left and, if failure probabilities are short, what is left of those.
    """

    account: Granted
    needed: Entry
    left: Entry
    largest_share: float

    @property
    def needed_share(self) -> float:
        """Return the loss that was needed, as a share of the account's limit."""
        return self.needed.loss / limit_of(self.account).loss

    def explanation(self) -> str:
        """State what was needed and what is left, in a sentence or two."""
        needed, left = self.needed.cost, self.left.cost
        problems = []
        if self.needed.loss > self.left.loss:
            problems.append(
                f"{self.account.called} of {needed.loss:.6g} is needed"
                f" ({self.needed_share:.4g} of the budget's), and {left.loss:.6g} is left."
            )
        if self.needed.failure > self.left.failure:
            problems.append(
                f"A failure probability of {needed.failure:.3g} is needed, and {left.failure:.3g}"
                f" is left of the {self.account.failure_limit:.3g} that the budget keeps for it."
            )
        return " ".join(problems)

    def advice(self, scarcest: str | None = None) -> str:
        """State what to do; ``scarcest`` is the account of ``largest_share``, if another."""
        if self.needed.failure > self.left.failure:
            # The failure hardly falls with the share requested, so that no share is named.
            return "Take fewer levels, a smaller vector or more noise."
        if self.largest_share > 0:
            whose = f", which is all that {scarcest} has left" if scarcest else ""
            return f"The largest share that would fit is {self.largest_share:.6g}{whose}."
        return "No share would fit; raise the budget first."


def entry(cost: Cost) -> Entry:
    """Return ``cost`` in units of the ledger, rounded up.

    Raises ``InvalidInput`` for a cost that is negative or not a number.
    """
    if not (cost.loss >= 0 and cost.failure >= 0):
        raise InvalidInput(
            f"A charge cannot be {cost.loss} with failure probability {cost.failure}."
        )
    loss = LARGEST_LOSS
    if math.isfinite(cost.loss):
        loss = min(math.ceil(Fraction(cost.loss) * LOSS_UNITS), LARGEST_LOSS)
    return Entry(loss, math.ceil(Fraction(min(cost.failure, 1.0)) * FAILURE_UNITS))


def limit_of(account: Granted) -> Entry:
    """Return all that ``account`` grants, in units of the ledger, rounded down."""
    return Entry(
        math.floor(Fraction(account.limit) * LOSS_UNITS),
        math.floor(Fraction(account.failure_limit) * FAILURE_UNITS),
    )


def total(entries: Iterable[Entry]) -> Entry:
    """Return the sum of ``entries``, whatever their order."""
    return sum(entries, NOTHING)


def share_of(account: Granted, share: float | Fraction) -> Entry:
    """Return ``share`` of what ``account`` grants, of losses and of failure probabilities.

    It is rounded down, so that shares that add up to 1 always fit together.
    """
    part, limit = Fraction(share), limit_of(account)
    return Entry(math.floor(part * limit.loss), math.floor(part * limit.failure))


def left_of(account: Granted, spent: Entry) -> Entry:
    """Return what is left of the limits after ``spent``; never below zero."""
    limit = limit_of(account)
    return Entry(max(limit.loss - spent.loss, 0), max(limit.failure - spent.failure, 0))


def check(account: Granted, spent: Entry, new: Entry) -> Shortfall | None:
    """Return None if ``new`` fits beside ``spent``, else what is short."""
    left = left_of(account, spent)
    if new.loss <= left.loss and new.failure <= left.failure:
        return None
    limit = limit_of(account)
    share = largest_part(limit.loss, left.loss)
    if new.failure > left.failure:
        share = min(share, largest_part(limit.failure, left.failure))
    return Shortfall(account, new, left, share)


def largest_part(limit: int, left: int) -> float:
    """Return the largest float whose part of ``limit`` is no more than what is left."""
    if not limit:
        return 0.0
    share = left / limit
    while share > 0 and math.floor(Fraction(share) * limit) > left:
        share = math.nextafter(share, 0)
    return share
