"""Quote a query: its kind, the level of each tier, and what each is charged.

A quote follows from the spec alone, before anything is charged, read or drawn.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

from penstock.accounting.calibration.levels import level_for, level_for_share, rung_for
from penstock.accounting.charging.charges import require_admitted
from penstock.accounting.charging.ledger import Entry, total
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.planning.refusals import pointer, refusal, within
from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.pure import purely_charged
from penstock.mechanisms.lattice import finest_common_power
from penstock.mechanisms.process import Mechanism
from penstock.persistence.tables.people import Tier
from penstock.privacy.target import Target, TargetKind
from penstock.services.ledger.accounts import TierAccount
from penstock.services.noise.kinds.choice import requested
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.schemas.queries import Terms
from penstock.spec_fields import folded

Planning = Callable[[type[Mechanism], Fraction], QueryKind]
"""Returns the kind that was requested, for a mechanism and the level of its ceiling."""


MOST_KEPT = 64
"""The most quotes that one process keeps."""

_KEPT: dict[Hashable, tuple[QueryKind, Mapping[str, int], Sequence[tuple[str, int, Entry]]]] = {}
"""Quotes by their inputs: kind, rungs by tier, and charges by tier and rung.

They hold public numbers alone: no value, no name of a query.
"""


@dataclass(frozen=True)
class Quote:
    """Hold a query's kind, and the rung and charge of each tier that sees it.

    ``rungs`` is by tier name, in rising rank, never noisier as rank rises.  If levels are
    independent draws, a tier has a charge for every rung that it or a tier below it sees.
    """

    process: QueryKind
    rungs: Mapping[str, int]
    charges: Sequence[tuple[TierAccount, int, Entry]]

    @property
    def ceiling(self) -> int:
        """Return the most accurate rung, that of the anchor."""
        return min(self.rungs.values())

    def by_tier(self) -> list[tuple[TierAccount, list[int], Entry]]:
        """Return for each tier its account, the rungs that it is charged for, and their sum."""
        return [
            (account, [rung for _, rung, _ in own], total(cost for _, _, cost in own))
            for account, own in (
                (account, list(group))
                for account, group in groupby(self.charges, key=lambda charge: charge[0])
            )
        ]


def calibrate_and_price(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
    limit: Tier | None = None,
    *,
    pure: bool = False,
) -> Quote:
    """Calibrate every tier's level and price it; ``pure`` if only a pure epsilon is known to hold.

    A quote of a vector for those who see all tiers is kept, since it depends on few numbers, and
    queries are registered alike.

    ``accounts`` has every tier, least trusted first; those above ``limit`` are hidden, and messages
    about accounts and shares leave them out.  Raises ``InvalidInput`` for tiers that do not exist
    or have no budget, for levels that get noisier as rank rises, and for levels that the mechanism
    cannot have.
    """
    requested_type, own = requested(terms, prepared)
    if requested_type is not VectorKind or limit is not None:
        return _calibrated(requested_type, own, terms, prepared, accounts, delta, limit, pure=pure)
    inputs = (pure, _inputs(terms, prepared, accounts, delta))
    known = _KEPT.get(inputs)
    if known is None:
        new = _calibrated(requested_type, own, terms, prepared, accounts, delta, None, pure=pure)
        costs = [(account.tier.name, rung, cost) for account, rung, cost in new.charges]
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        known = _KEPT[inputs] = (new.process, new.rungs, costs)
    kind, rungs, priced = known
    named = {tier.name: account for tier, account in accounts if account is not None}
    return Quote(kind, dict(rungs), [(named[name], rung, cost) for name, rung, cost in priced])


def _inputs(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
) -> Hashable:
    """Return everything that the quote of a vector depends on.

    Fractions are pairs of integers, which are compared without Python's own functions.
    """
    levels, norms = terms.levels, prepared.sensitivity
    return (
        *(terms.mechanism, terms.p, terms.granularity, terms.share, terms.max_levels, delta),
        None if levels is None else tuple((name, *vars(levels[name]).values()) for name in levels),
        prepared.dimension,
        *map(
            Fraction.as_integer_ratio,
            (prepared.step, prepared.bound, norms.l1, norms.l2_squared, norms.linf),
        ),
        tuple((tier.name, tier.folded, own and own.account) for tier, own in accounts),
    )


def _calibrated(
    requested_type: type[QueryKind],
    own: Mapping[str, Any],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
    limit: Tier | None,
    *,
    pure: bool,
) -> Quote:
    plan = partial(_requested_kind, requested_type, own, prepared)
    requested_type.require_terms(terms, delta)
    family = requested_type.family(terms, prepared.step)
    family = purely_charged(family) if pure else family
    require_admitted(family.name, delta)
    try:
        if terms.levels is not None:
            targets = _targets(requested_type, terms, prepared, accounts, limit)
            kind, rungs = _by_levels(plan, family, terms, prepared, accounts, delta, targets)
        else:
            kind, rungs = _by_share(plan, family, terms, prepared, accounts)
    except InvalidInput as problem:
        explained = requested_type.explained(problem, terms)
        if explained is problem:
            raise
        raise explained from problem
    if len(set(rungs.values())) > terms.max_levels:
        raise InvalidInput(
            f"The tiers have {len(set(rungs.values()))} levels, more than max_levels,"
            f" {terms.max_levels}; raise it.",
            pointer="/max_levels",
        )
    charges = []
    seen: set[int] = set()
    for tier, account in accounts:
        if tier.name in rungs and account is not None:
            seen.add(rungs[tier.name])
            for rung in kind.levels.telling(seen):
                cost = kind.price(rung, account.account, prepared.dimension, terms.max_levels)
                charges.append((account, rung, cost))
    kind = kind.settled(terms, rungs, [tier for tier, _ in accounts], limit)
    return Quote(kind, rungs, charges)


def _by_levels(
    plan: Planning,
    family: type[Mechanism],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
    targets: Mapping[str, Target],
) -> tuple[QueryKind, dict[str, int]]:
    spelled = {folded(name): name for name in terms.levels or {}}
    template = family(granularity=finest_common_power(prepared.step))
    levels: dict[str, Fraction] = {}
    for name, target in _most_accurate(targets).items():
        with within("levels", spelled[folded(name)]):
            levels[name] = level_for(template, target, prepared.sensitivity, delta)
    kind = plan(family, min(levels.values()))
    rungs: dict[str, int] = {}
    last: tuple[str, int] | None = None
    for tier, _ in accounts:
        if tier.name in targets:
            with within("levels", spelled[tier.folded]):
                rung = rung_for(
                    kind.mechanism,
                    kind.ladder,
                    targets[tier.name],
                    prepared.sensitivity,
                    delta,
                    levels.get(tier.name),
                )
                if last is not None and rung > last[1]:
                    raise InvalidInput(
                        f"The level of {tier.name!r} is noisier than that of the less trusted"
                        f" {last[0]!r}; levels must not get noisier as rank rises."
                    )
            last = (tier.name, rung)
        if last is not None:
            rungs[tier.name] = last[1]
    return kind, rungs


def _by_share(
    plan: Planning,
    family: type[Mechanism],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
) -> tuple[QueryKind, dict[str, int]]:
    share = Fraction(terms.share or 0)
    funded = [(tier, account.account) for tier, account in accounts if account is not None]
    if not funded:
        raise InvalidInput("No tier has a budget in this dataset.", pointer="/share")
    levels = [
        level_for_share(
            family,
            share,
            sensitivity=prepared.sensitivity,
            account=account,
            dimension=prepared.dimension,
            level_count=terms.max_levels,
            step=prepared.step,
            bound=prepared.bound,
        )
        for _, account in funded
    ]
    kind = plan(family, min(levels))
    return kind, kind.levels.shared_rungs(share, funded, prepared.dimension, terms.max_levels)


def require_tiers(
    terms: Terms,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    limit: Tier | None = None,
) -> None:
    """Raise ``InvalidInput`` for every tier in ``levels`` that does not exist or has no budget."""
    known = {tier.folded: (tier, account) for tier, account in accounts}
    places = []
    for name in terms.levels or {}:
        tier, account = known.get(folded(name), (None, None))
        if tier is None:
            problem = f"There is no tier {name!r}; create it first, or leave its level out."
        elif account is None and (limit is None or tier.rank <= limit.rank):
            problem = (
                f"Tier {tier.name!r} has no budget in this dataset; leave its level out,"
                " or give it a budget."
            )
        else:
            continue
        places.append((pointer("levels", name), problem))
    if len(places) == 1:
        raise InvalidInput(places[0][1], pointer=places[0][0])
    if places:
        raise refusal(places)


def _targets(
    kind: type[QueryKind],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    limit: Tier | None,
) -> dict[str, Target]:
    require_tiers(terms, accounts, limit)
    names = {tier.folded: tier.name for tier, _ in accounts}
    return {
        names[folded(name)]: kind.drawn_target(spec.target(), prepared)
        for name, spec in (terms.levels or {}).items()
    }


def _most_accurate(targets: Mapping[str, Target]) -> dict[str, Target]:
    """Return the targets of which one is the most accurate: of each kind only its own one."""
    best: dict[tuple[TargetKind, float], tuple[str, Target]] = {}
    for name, target in targets.items():
        key = target.kind, target.confidence
        _, other = best.get(key, (name, target))
        better = min if target.kind in _NOISES else max
        if better(target.value, other.value) == target.value:
            best[key] = name, target
    return dict(best.values())


_NOISES = (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH, TargetKind.LEVEL)
"""The kinds of target that are the less accurate, the larger they are."""


def _requested_kind(
    kind: type[QueryKind],
    own: Mapping[str, Any],
    prepared: PreparedQuery,
    family: type[Mechanism],
    ceiling: Fraction,
) -> QueryKind:
    mechanism, ladder = family.plan(ceiling, prepared.step, prepared.bound)
    return kind(mechanism, ladder, prepared.sensitivity, **own)
