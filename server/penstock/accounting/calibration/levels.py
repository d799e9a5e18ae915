"""Find the least noise that meets a target: convert a target to a noise level.

The rule of this module: every rounding is towards more noise.  Levels
are returned as exact fractions, before they are moved to a rung of a query's ladder.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final

from penstock.accounting.calibration.guesses import (
    CLOSED_FORMS,
    close_level,
    guess_of_share,
    guessed_level,
    log_ratio,
    most_accurate,
    near_rung,
)
from penstock.accounting.calibration.search import Excess, NoneIsGood, least, least_rung
from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.charges import charge, require_admitted
from penstock.accounting.charging.gaussian_budget import gaussian_level_for_share, require_gaussian
from penstock.accounting.charging.ledger import Entry, entry, share_of
from penstock.accounting.guarantees import guarantee_at
from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Cost
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.privacy.target import Target, TargetKind

VERSION: Final = 7
"""The version stored with every query; it rises when a target comes to mean another level."""

LAST_PURE: Final = 6
"""The last version in which an epsilon of Laplace noise is its pure loss at every delta."""

_ROOM: Final = 1e-9
"""The logarithm by which a level in closed form must be too noisy to be searched instead."""

_RUNG_ROOM: Final = Fraction(1, 2**20)
"""The part by which a level may be raised to have a good rung.

Ladders count in units of at most 2^-20 of a level, but for Poisson noise of a small mean.
"""

ADVICE: Final = " Ask for fewer levels, a smaller vector or a larger share."
"""The advice if a share is too small for a sampler's failure probability."""

RANGES: Final[Mapping[TargetKind, tuple[float, float]]] = {
    TargetKind.EPSILON: (1e-9, 1e6),
    TargetKind.RHO: (1e-18, 1e6),
    TargetKind.MU: (1e-9, 1e4),
    TargetKind.STANDARD_DEVIATION: (1e-15, 1e15),
    TargetKind.HALF_WIDTH: (1e-15, 1e15),
    TargetKind.LEVEL: (1e-30, 1e30),
}
"""The limits of a target's values; values beyond them have no known use."""


def level_for(
    mechanism: Mechanism, target: Target, sensitivity: Sensitivity, delta: float
) -> Fraction:
    """Return the least level that meets ``target`` for one release, read at ``delta``.

    ``mechanism`` is the family with the step of the exact values as its granularity; the guarantee
    is read on the lattice that ``plan`` would choose for the level. Raises ``InvalidInput`` for a
    target that is out of range or has no meaning for the family, and for a level that no lattice
    can represent.
    """
    require_meaning(mechanism, target, delta)
    if target.kind is TargetKind.LEVEL:
        return Fraction(target.value)
    return _kept_level(mechanism, target, sensitivity, delta)


def _searched_level(
    mechanism: Mechanism, target: Target, sensitivity: Sensitivity, delta: float
) -> Fraction:
    def plan(level: Fraction) -> tuple[Mechanism, Ladder]:
        return type(mechanism).plan(level, mechanism.granularity, Fraction(0))

    def excess(planned: tuple[Mechanism, Ladder], level: Fraction) -> float:
        return _excess(planned[0], target, sensitivity, delta, level)

    exact = CLOSED_FORMS.get((mechanism.name, target.kind))
    if exact is not None:
        level = exact(sensitivity, Fraction(target.value))
        if excess(plan(level), level) > -_ROOM:
            return _towards_noise(plan, excess, level)
    guess = guessed_level(mechanism, target, sensitivity, delta)
    close = close_level(*plan(Fraction(guess)), target, sensitivity, delta)
    return _on_its_lattice(plan, excess, close)


# Queries of one dataset often have the same targets.
_kept_level: Callable[..., Fraction] = lru_cache(maxsize=4096)(_searched_level)


def rung_for(
    mechanism: Mechanism,
    ladder: Ladder,
    target: Target,
    sensitivity: Sensitivity,
    delta: float,
    near: Fraction | None = None,
) -> int:
    """Return the least noisy rung of a planned query that meets ``target`` on its own lattice.

    The search begins at the level ``near``, if it is known; the rung does not depend on it.
    Raises ``InvalidInput`` as ``level_for`` does, and if no rung meets the target.
    """
    require_meaning(mechanism, target, delta)
    if target.kind is TargetKind.LEVEL:
        return ladder.rung_at_or_above(Fraction(target.value))
    return _kept_rung(mechanism, ladder, target, sensitivity, delta, near)


def stored_rung_for(
    mechanism: Mechanism, ladder: Ladder, target: Target, sensitivity: Sensitivity, delta: float
) -> int:
    """Return the least noisy rung of a registered query that meets ``target``.

    A level is shown as the nearest float, which may lie above the rung that it names; here it names
    that rung.  Rungs of registered queries are cached.  Raises ``InvalidInput`` as ``rung_for``
    does.
    """
    require_meaning(mechanism, target, delta)
    if target.kind is not TargetKind.LEVEL:
        return _kept_rung(mechanism, ladder, target, sensitivity, delta)
    rung = ladder.rung_at_or_above(Fraction(target.value))
    if rung > 0 and float(ladder.value(rung - 1)) == target.value:
        return rung - 1
    return rung


def _searched_rung(
    mechanism: Mechanism,
    ladder: Ladder,
    target: Target,
    sensitivity: Sensitivity,
    delta: float,
    near: Fraction | None = None,
) -> int:
    def excess(rung: int) -> float:
        return _excess(mechanism, target, sensitivity, delta, ladder.value(rung))

    guess = float(near) if near else close_level(mechanism, ladder, target, sensitivity, delta)
    rung = least_rung(excess, near_rung(ladder, guess), ladder.last)
    if rung > ladder.last:
        raise NoneIsGood(
            f"The {target.kind} {target.value:g} is noisier than the noisiest level of this query,"
            f" {float(ladder.value(ladder.last)):g}; ask for a level up to that."
        )
    return rung


_kept_rung: Callable[..., int] = lru_cache(maxsize=4096)(_searched_rung)


def level_for_share(
    family: type[Mechanism],
    share: float | Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
    step: Fraction,
    bound: Fraction,
) -> Fraction:
    """Return the least level whose whole charge is within ``share`` of the account's limit.

    The sampler's own error is part of the charge, and the failure probability is within
    the same share of the account's.  Raises ``InvalidInput`` for a share outside
    (0, 1], and if no level fits or no lattice can represent the one that does.
    """
    if account.squares:
        require_gaussian(family)
        return gaussian_level_for_share(
            share, sensitivity, account, dimension, level_count, step, bound
        )
    _require_share(share)
    allowed = share_of(account, share)
    last = [Cost(math.inf, 1.0)]

    def plan(level: Fraction) -> tuple[Mechanism, Ladder]:
        return family.plan(level, step, bound)

    def excess(planned: tuple[Mechanism, Ladder], level: Fraction) -> float:
        last[0] = charge(*planned, level, sensitivity, account, dimension, level_count)
        return excess_of_share(entry(last[0]), allowed) if allowed.loss else math.inf

    guess = guess_of_share(family, share, sensitivity, account, step)
    try:
        return _on_its_lattice(plan, excess, guess)
    except NoneIsGood as missing:
        raise InvalidInput(
            f"{missing.detail} With a share of {float(share):g} the last level tried has a failure"
            f" probability of {last[0].failure:.3g}, and that share allows"
            f" {account.failure_limit * float(share):.3g}.{ADVICE}",
            pointer="/share",
        ) from None


def rung_for_share(
    mechanism: Mechanism,
    ladder: Ladder,
    share: float | Fraction,
    sensitivity: Sensitivity,
    account: Account,
    dimension: int,
    level_count: int,
) -> int:
    """Return the least noisy rung of a planned query that is charged within ``share``.

    Raises ``InvalidInput`` for a share outside (0, 1], and if even the last rung costs more.
    """
    _require_share(share)
    allowed = share_of(account, share)

    def excess(rung: int) -> float:
        level = ladder.value(rung)
        made = entry(charge(mechanism, ladder, level, sensitivity, account, dimension, level_count))
        return excess_of_share(made, allowed)

    near = near_share(mechanism, ladder, share, sensitivity, account)
    rung = least_rung(excess, near, ladder.last)
    if rung > ladder.last:
        raise InvalidInput(
            f"Even the noisiest level of this query, {float(ladder.value(ladder.last)):g}, costs"
            f" more than a share of {float(share):g} of the budget. Request a larger share.",
            pointer="/share",
        )
    return rung


def near_share(
    mechanism: Mechanism,
    ladder: Ladder,
    share: float | Fraction,
    sensitivity: Sensitivity,
    account: Account,
) -> int:
    """Return a rung near those that are charged ``share``."""
    step = mechanism.granularity
    return near_rung(ladder, guess_of_share(type(mechanism), share, sensitivity, account, step))


def excess_of_share(made: Entry, allowed: Entry) -> float:
    """Return how much a charge exceeds what is allowed, as a logarithm; at most 0 if it fits."""
    if made.failure > allowed.failure:
        return math.inf
    return log_ratio(made.loss, allowed.loss)


Plan = Callable[[Fraction], tuple[Mechanism, Ladder]]
PlannedExcess = Callable[[tuple[Mechanism, Ladder], Fraction], float]


def require_meaning(mechanism: Mechanism, target: Target, delta: float) -> None:
    """Raise ``InvalidInput`` for a target that is out of range or has no meaning for the family."""
    pointer = f"/{target.kind}"
    low, high = RANGES[target.kind]
    if not low <= target.value <= high:
        raise InvalidInput(
            f"{target.kind} must be a number from {low:g} to {high:g}, not {target.value}.",
            pointer=pointer,
        )
    if target.kind is TargetKind.HALF_WIDTH and not 0 < target.confidence < 1:
        raise InvalidInput(
            f"A confidence must be between 0 and 1, not {target.confidence}; 0.95 is usual.",
            pointer="/confidence",
        )
    if target.kind in (TargetKind.RHO, TargetKind.MU) and (
        (mechanism.name, target.kind) not in CLOSED_FORMS
    ):
        raise InvalidInput(
            f"The {mechanism.name} mechanism has no {target.kind}: name its level by epsilon,"
            " standard_deviation, half_width or level.",
            pointer=pointer,
        )
    require_admitted(mechanism.name, delta)
    if not 0 <= delta < 1:
        raise InvalidInput(f"A delta is at least 0 and below 1, not {delta}.", pointer="/delta")


def _require_share(share: float | Fraction) -> None:
    if not 0 < share <= 1:
        raise InvalidInput(
            f"A share must be above 0 and at most 1, not {float(share)}.", pointer="/share"
        )


def _excess(
    mechanism: Mechanism, target: Target, sensitivity: Sensitivity, delta: float, level: Fraction
) -> float:
    value = target.value
    if target.kind is TargetKind.STANDARD_DEVIATION:
        return log_ratio(value, mechanism.error(level, 0.95).standard_deviation)
    if target.kind is TargetKind.HALF_WIDTH:
        return log_ratio(value, mechanism.error(level, target.confidence).half_width)
    guarantee = guarantee_at(mechanism, level, sensitivity, delta)
    has = {
        TargetKind.EPSILON: guarantee.epsilon,
        TargetKind.RHO: guarantee.rho,
        TargetKind.MU: guarantee.mu,
    }[target.kind]
    return math.inf if has is None else log_ratio(has, value)


def _on_its_lattice(plan: Plan, excess: PlannedExcess, guess: float) -> Fraction:
    """Return the least level that is good on the lattice that would be planned for it.

    The lattice is planned for the guess, and planned again if the level found needs another one.
    """
    planned = plan(Fraction(guess))
    level = _least(partial(excess, planned), *planned, guess)
    again = plan(level)
    if again[0] != planned[0]:
        level = _least(partial(excess, again), *again, float(level))
    return _with_its_rung(plan, excess, _towards_noise(plan, excess, level))


def _with_its_rung(plan: Plan, excess: PlannedExcess, level: Fraction) -> Fraction:
    """Return ``level``, or slightly more if the rung just below it is not good.

    A ladder rounds the level down to that rung.  Otherwise a query planned for the level would have
    to take the next rung, 2^-10 noisier.
    """
    planned = plan(level)
    rung = planned[1].rung_at_or_above(level)
    rounded = planned[1].value(max(rung - 1, 0))
    if level * (1 - _RUNG_ROOM) < rounded < level and excess(planned, rounded) > 0:
        return _towards_noise(plan, excess, level * (1 + _RUNG_ROOM))
    return level


def _least(excess: Excess, mechanism: Mechanism, ladder: Ladder, guess: float) -> Fraction:
    most = max(guess, float(ladder.value(ladder.last)))
    return least(excess, guess, most_accurate(mechanism.name, mechanism.granularity), most)


def _towards_noise(plan: Plan, excess: PlannedExcess, level: Fraction) -> Fraction:
    """Return ``level``, or slightly more if the lattice or floats would round it down."""
    hair = Fraction(1, 2**52)
    while excess(plan(level), level) > 0:
        level *= 1 + hair
        hair *= 2
    return level
