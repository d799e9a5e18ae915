"""What a query would be: its process, the level of each tier, and what each is charged.

Settled from the spec alone, before anything is charged, read or drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from penstock.accounting import (
    Entry,
    level_for,
    level_for_share,
    require_admitted,
    rung_for,
    rung_for_share,
    total,
)
from penstock.connectors.planning.correlated_counts import Nodes
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.planning.refusals import pointer, refusal, within
from penstock.connectors.specs.histograms import domain_of
from penstock.errors import InvalidInput
from penstock.mechanisms import Mechanism, family_of
from penstock.mechanisms.laplace.process import DiscreteLaplace
from penstock.mechanisms.lattice import finest_common_power
from penstock.persistence.tables import Tier
from penstock.privacy import Target
from penstock.services.ledger.accounts import TierAccount
from penstock.services.noise.histogram_settings import most, require_fitting, settled, too_large
from penstock.services.noise.independent_levels import shared_rungs
from penstock.services.noise.process import Process, on_node
from penstock.services.schemas.queries import HistogramRequest, Terms
from penstock.spec_fields import folded
from penstock.structures.sparse_histogram import HistogramNoise


@dataclass(frozen=True)
class Offer:
    """A query's process, and for each tier that sees it a rung and its charge.

    ``rungs`` is by tier name, in rising rank, never noisier as rank rises.  Where levels are
    independent draws, a tier has a charge for every rung that it or a tier below it sees.
    """

    process: Process
    rungs: Mapping[str, int]
    charges: Sequence[tuple[TierAccount, int, Entry]]

    @property
    def ceiling(self) -> int:
        """The most accurate rung: that of the anchor."""
        return min(self.rungs.values())

    def by_tier(self) -> list[tuple[TierAccount, list[int], Entry]]:
        """Of each tier the account, the rungs that it is charged for, and the sum of charges."""
        return [
            (account, [rung for _, rung, _ in own], total(cost for _, _, cost in own))
            for account, own in (
                (account, list(group))
                for account, group in groupby(self.charges, key=lambda charge: charge[0])
            )
        ]


def settle(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
    limit: Tier | None = None,
) -> Offer:
    """Calibrate every tier's level and price it.

    ``accounts`` has every tier, least trusted first; those above ``limit`` are out of sight,
    and are left out of all that is said of accounts and shares.  Raises ``InvalidInput`` for tiers
    that do not exist or have no budget, for levels that get noisier as rank rises, and
    for levels that the mechanism cannot have.
    """
    if isinstance(terms, HistogramRequest):
        require_fitting(terms.mechanism, delta)
    family = _family(terms, prepared.step)
    require_admitted(family.name, delta)
    try:
        if terms.levels is not None:
            process, rungs = _by_levels(family, terms, prepared, accounts, delta, limit)
        else:
            process, rungs = _by_share(family, terms, prepared, accounts)
    except InvalidInput as problem:
        if isinstance(terms, HistogramRequest) and "largest_bound" in problem.data:
            raise too_large(problem, terms) from problem
        raise
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
            for rung in process.telling(seen):
                cost = process.price(rung, account.account, prepared.dimension, terms.max_levels)
                charges.append((account, rung, cost))
    if isinstance(terms, HistogramRequest):
        process = _with_thresholds(terms, process, rungs, [tier for tier, _ in accounts], limit)
    return Offer(process, rungs, charges)


def _with_thresholds(
    terms: HistogramRequest,
    process: Process,
    rungs: Mapping[str, int],
    tiers: Sequence[Tier],
    limit: Tier | None,
) -> Process:
    shape = settled(
        terms.domain.model_dump(exclude_none=True), terms.false_keys, rungs, tiers, limit
    )
    # Raises what is wrong with the numbers themselves.
    process.thresholds(shape)
    return replace(process, histogram=shape)


def _family(terms: Terms, step: Fraction) -> type[Mechanism]:
    if isinstance(terms, HistogramRequest):
        return HistogramNoise.of(domain_of(terms.domain).size, most(terms.false_keys))
    if terms.granularity is None:
        return family_of(terms.mechanism, terms.power)
    own = finest_common_power(step)
    if Fraction(terms.granularity) != own:
        raise InvalidInput(
            f"The values are multiples of {own}, so that noise on their lattice has the"
            f" granularity {own} and not {terms.granularity:g}; give that, or leave it out for"
            " a lattice so fine that it does not show.",
            pointer="/granularity",
        )
    return DiscreteLaplace


def _by_levels(
    family: type[Mechanism],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    delta: float,
    limit: Tier | None,
) -> tuple[Process, dict[str, int]]:
    targets = _targets(terms, accounts, limit, prepared.nodes)
    spelled = {folded(name): name for name in terms.levels or {}}
    template = family(granularity=finest_common_power(prepared.step))
    wanted: dict[str, Fraction] = {}
    for name, target in targets.items():
        with within("levels", spelled[folded(name)]):
            wanted[name] = level_for(template, target, prepared.sensitivity, delta)
    process = _planned(family, prepared, min(wanted.values()))
    rungs: dict[str, int] = {}
    last: tuple[str, int] | None = None
    for tier, _ in accounts:
        if tier.name in targets:
            with within("levels", spelled[tier.folded]):
                rung = rung_for(
                    process.mechanism,
                    process.ladder,
                    targets[tier.name],
                    prepared.sensitivity,
                    delta,
                )
                if last is not None and rung > last[1]:
                    raise InvalidInput(
                        f"The level of {tier.name!r} is noisier than that of the less trusted"
                        f" {last[0]!r}; levels must not get noisier as rank rises."
                    )
            last = (tier.name, rung)
        if last is not None:
            rungs[tier.name] = last[1]
    return process, rungs


def _by_share(
    family: type[Mechanism],
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
) -> tuple[Process, dict[str, int]]:
    share = Fraction(terms.share or 0)
    funded = [(tier, account.account) for tier, account in accounts if account is not None]
    if not funded:
        raise InvalidInput("No tier has a budget in this dataset.", pointer="/share")
    wanted = [
        level_for_share(
            family,
            share,
            prepared.sensitivity,
            account,
            prepared.dimension,
            terms.max_levels,
            prepared.step,
            prepared.bound,
        )
        for _, account in funded
    ]
    process = _planned(family, prepared, min(wanted))
    if not process.lossless:
        found = shared_rungs(process, share, funded, prepared.dimension, terms.max_levels)
        return process, found
    rungs: dict[str, int] = {}
    finest = process.ladder.last
    for tier, account in funded:
        own = rung_for_share(
            process.mechanism,
            process.ladder,
            share,
            prepared.sensitivity,
            account,
            prepared.dimension,
            terms.max_levels,
        )
        # A higher tier's account has another order, at which the same level may cost more.
        finest = min(finest, own)
        rungs[tier.name] = finest
    return process, rungs


def require_tiers(
    terms: Terms,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    limit: Tier | None = None,
) -> None:
    """Raise ``InvalidInput`` of every tier in ``levels`` that is not there or has no budget."""
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
    terms: Terms,
    accounts: Sequence[tuple[Tier, TierAccount | None]],
    limit: Tier | None,
    nodes: Nodes | None,
) -> dict[str, Target]:
    require_tiers(terms, accounts, limit)
    names = {tier.folded: tier.name for tier, _ in accounts}
    return {
        names[folded(name)]: on_node(spec.target(), nodes)
        for name, spec in (terms.levels or {}).items()
    }


def _planned(family: type[Mechanism], prepared: PreparedQuery, ceiling: Fraction) -> Process:
    mechanism, ladder = family.plan(ceiling, prepared.step, prepared.bound)
    return Process(mechanism, ladder, prepared.sensitivity, prepared.nodes)
