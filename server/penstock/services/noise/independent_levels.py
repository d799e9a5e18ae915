"""Queries whose levels are independent draws: generalized Gaussian noise of most powers.

None of their releases can be drawn from another one, and exact values are not kept.  The
rules this module keeps: every level is drawn where the data are read, at the levels that
tiers are given by then, and no other level is ever handed out; whoever may see several of
them is charged for all, and what these tell together is their composition.
"""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from penstock.accounting import NOTHING, Account, Entry, share_of
from penstock.errors import ClearanceTooLow, InvalidInput
from penstock.mechanisms import GeneralizedGaussian, IntVector, draw_anchor
from penstock.mechanisms.generalized_gaussian.loss_distribution import epsilon_of
from penstock.persistence.tables import Charge, Query, Release, Tier
from penstock.privacy import Target, TargetKind
from penstock.services.context import Server
from penstock.services.noise.process import Process
from penstock.services.repository import given_rungs
from penstock.services.schemas.views import ComposedView

_DRAWN = select(Release.rung).where(col(Release.query_id) == bindparam("query_id"))
_PAID = select(Charge).where(
    col(Charge.query_id) == bindparam("query_id"), col(Charge.tier_id) == bindparam("tier_id")
)


def first_rungs(session: Session, query: Query) -> list[int]:
    """Where to draw when the data of a query are read first; the most accurate first.

    The anchor alone, but where levels are independent all that tiers are given.
    """
    return Process.of(query).telling({query.ceiling, *given_rungs(session, query)})


def undrawn(session: Session, query: Query, rungs: Sequence[int]) -> list[int]:
    """Which of ``rungs`` only the exact values can give; the most accurate first.

    One that is more accurate than the ceiling, but where levels are independent every one
    that was not drawn yet.
    """
    if Process.of(query).lossless:
        return [rung for rung in (min(rungs),) if rung < query.ceiling]
    drawn = session.exec(_DRAWN, params={"query_id": query.id}).all()
    return sorted(set(rungs) - set(drawn))


def drawn_at(
    server: Server, process: Process, rungs: Sequence[int], exact: IntVector
) -> list[tuple[int, IntVector]]:
    """Independent draws around exact values in lattice steps, one for each rung."""
    return [
        (
            rung,
            draw_anchor(process.mechanism, exact, process.ladder.value(rung), server.randomness()),
        )
        for rung in rungs
    ]


def offered_rung(
    session: Session,
    query: Query,
    process: Process,
    tier: Tier,
    own: int,
    target: Target,
    delta: float,
) -> int:
    """Return the rung of the independent level that ``target`` names, among those there are.

    ``own`` is the most accurate that the tier is allowed now.  What it may have are levels
    that it pays for; others, noisier than its own or not, are none of its business.  Raises
    ``InvalidInput`` where ``target`` is met exactly by none of them, and ``ClearanceTooLow`` for
    an epsilon whose level is more accurate than ``own``.
    """
    charges = session.exec(_PAID, params={"query_id": query.id, "tier_id": tier.id})
    paid = {charge.rung for charge in charges}
    drawn = session.exec(_DRAWN, params={"query_id": query.id})
    found = sorted(one for one in drawn if one >= own and one in paid)
    # Finding the rung of an epsilon takes tenths of a second, and whoever asks may go on; what
    # the few levels that there are promise is kept.
    if target.kind is TargetKind.EPSILON:
        if own > 0 and process.guarantee(own - 1, delta).epsilon <= target.value:
            raise ClearanceTooLow(
                f"A level of epsilon {target.value:g} is more accurate than {tier.name!r} allows"
                f" for {query.name!r}, epsilon {process.guarantee(own, delta).epsilon:.4g}. Ask for"
                " that or less, or ask an admin for a higher clearance."
            )
        named = next((one for one in found if _is_rung_of(process, one, target, delta)), None)
    else:
        named = process.rung(target, delta)
        if named < own:
            return named  # refused by its clearance
    if named not in found:
        levels = ", ".join(f"{process.level(one).value:g}" for one in found)
        raise InvalidInput(
            f"Query {query.name!r} has no level of {target.kind} {target.value:g} and is given"
            f" none: generalized Gaussian noise with p = {process.p:g} has no lossless levels, so"
            " that each is a draw of its own, made while the data were read. Ask for one that there"
            f" is ({process.mechanism.parameter} {levels}), or for that of a tier.",
            pointer=f"/{target.kind}",
        )
    return named


def _is_rung_of(process: Process, rung: int, target: Target, delta: float) -> bool:
    """Whether ``rung`` is the least noisy one whose epsilon is at most that of ``target``."""
    if process.guarantee(rung, delta).epsilon > target.value:
        return False
    return rung == 0 or process.guarantee(rung - 1, delta).epsilon > target.value


def shared_rungs(
    process: Process,
    share: Fraction,
    funded: Sequence[tuple[Tier, Account]],
    dimension: int,
    levels: int,
) -> dict[str, int]:
    """By tier, least trusted first, the least noisy rung with which all keep to ``share``.

    A tier is charged for the levels below it as well, so that each level has to fit the
    shares of all tiers that see it.  Where nothing more accurate fits, a tier has the level
    of the one below it, which is the same release and costs it nothing more.  Raises
    ``InvalidInput`` where even the noisiest level costs the first tier more.
    """
    spent = [NOTHING] * len(funded)
    rungs: dict[str, int] = {}
    last = process.ladder.last + 1
    for place, (tier, _) in enumerate(funded):
        accounts = [account for _, account in funded[place:]]
        fits = partial(_fit, process, share, accounts, spent[place:], dimension, levels)
        found = bisect_left(range(last), 1, key=fits)
        if found > process.ladder.last:
            raise InvalidInput(
                "Even the noisiest level that this query offers,"
                f" {float(process.ladder.value(process.ladder.last)):g}, costs more than a share of"
                f" {float(share):g}; take a larger one.",
                pointer="/share",
            )
        if found < last:
            last = found
            spent[place:] = [
                before + process.price(last, account, dimension, levels)
                for before, account in zip(spent[place:], accounts, strict=True)
            ]
        rungs[tier.name] = last
    return rungs


def _fit(
    process: Process,
    share: Fraction,
    accounts: Sequence[Account],
    spent: Sequence[Entry],
    dimension: int,
    levels: int,
    rung: int,
) -> bool:
    """Whether every account has room within its share for a level beside what is spent."""
    for account, before in zip(accounts, spent, strict=True):
        both = before + process.price(rung, account, dimension, levels)
        allowed = share_of(account, share)
        if both.loss > allowed.loss or both.failure > allowed.failure:
            return False
    return True


def together(process: Process, rungs: Sequence[int], delta: float) -> ComposedView | None:
    """What the levels at ``rungs`` tell together; ``None`` where the most accurate tells all."""
    if process.lossless:
        return None
    return _together(process, tuple(process.telling(rungs)), delta)


# Listings show it for every tier, and few sets of levels ever change.
@lru_cache(maxsize=4096)
def _together(process: Process, rungs: tuple[int, ...], delta: float) -> ComposedView:
    mechanism = process.mechanism
    if not isinstance(mechanism, GeneralizedGaussian):
        raise TypeError(f"{mechanism.name} noise is lossless: nothing is to be composed")
    shifts = (
        mechanism.worst_shift(process.ladder.value(rung), process.sensitivity) for rung in rungs
    )
    kinds = tuple(kind for worst in shifts for kind in worst)
    levels = [process.level(rung).value for rung in rungs]
    return ComposedView(levels, epsilon_of(kinds, delta), delta)
