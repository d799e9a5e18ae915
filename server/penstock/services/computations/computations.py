"""Run long computations, as pure functions of public numbers.

They read specs, tiers and accounts, and nothing else: no data, no key, no release.  So they may
run in a process that has none of these.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from penstock.accounting.charging.budget import Account
from penstock.accounting.guarantees import guarantee_at
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.accounting.reporting.report import composed_epsilon
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.laplace.process import Laplace
from penstock.persistence.tables.people import Tier
from penstock.services.allowances import own_levels
from penstock.services.computations import histogram_remedies, power_advice, stream_quotes
from penstock.services.computations.results import (
    Described,
    DescribedQuote,
    DescribedTier,
    OwnQuote,
    SeenTier,
)
from penstock.services.ledger import quotes
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.schemas.previews import ReadAtDeltaView
from penstock.services.schemas.queries import Terms

Accounts = Sequence[tuple[Tier, TierAccount | None]]


def calibrate_and_price(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Accounts,
    delta: float,
    limit: Tier | None = None,
) -> Quote:
    """Calibrate every tier's level and price it; see ``quotes.calibrate_and_price``."""
    return quotes.calibrate_and_price(terms, prepared, accounts, delta, limit)


def quote(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Accounts,
    delta: float,
    limit: Tier | None,
    *,
    asks: bool,
) -> DescribedQuote:
    """Calibrate and price a query, and describe its levels; ``asks`` as for ``describe``."""
    settled = calibrate_and_price(terms, prepared, accounts, delta, limit)
    seen = [
        SeenTier(account.tier.name, settled.rungs[account.tier.name], rungs)
        for account, rungs, _ in settled.by_tier()
    ]
    return DescribedQuote(
        settled, describe(settled.process, seen, prepared.dimension, delta, asks=asks)
    )


def quote_own(
    terms: Terms,
    prepared: PreparedQuery,
    accounts: Accounts,
    delta: float,
    tier: Tier,
    allowance: Account,
) -> OwnQuote:
    """Calibrate the level of ``tier`` alone, and price it for all that see it and the allowance."""
    alone = own_levels.alone(accounts, tier)
    settled = calibrate_and_price(terms, prepared, alone, delta)
    dimension, count = prepared.dimension, terms.max_levels
    whole = own_levels.for_all_above(settled, accounts, tier, dimension, count)
    kind, rung = whole.process, whole.rungs[tier.name]
    return OwnQuote(whole, kind.price(rung, allowance, dimension, count))


def describe(
    kind: QueryKind, seen: Sequence[SeenTier], dimension: int, delta: float, *, asks: bool
) -> Described:
    """Describe the levels of a query; ``asks`` if its largest error is requested."""
    tiers = [
        DescribedTier(
            kind.at_tier(reader.tier, reader.rung, delta),
            kind.levels.composed(reader.rungs, delta),
            power_advice.expected_maximum(kind, reader.rung, dimension) if asks else None,
            _at_delta(kind, reader.rung, delta),
            kind.ranks(reader.rung),
            kind.expected(reader.rung),
        )
        for reader in seen
    ]
    rungs = [(reader.tier, reader.rung) for reader in seen]
    advised = asks and bool(rungs)
    powers = power_advice.advice(kind, rungs, dimension, delta) if advised else None
    return Described(tiers, powers)


def _at_delta(kind: QueryKind, rung: int, delta: float) -> ReadAtDeltaView | None:
    """Return Laplace noise as it is read at ``delta``; ``None`` if the pure loss is the least."""
    if kind.mechanism.name != Laplace.name:
        return None
    read = guarantee_at(kind.mechanism, kind.ladder.value(rung), kind.sensitivity, delta)
    return ReadAtDeltaView(read.epsilon, delta) if read.delta else None


def compose(releases: Sequence[tuple[PlacedRelease, int]], delta: float) -> float:
    """Compose releases, each with its multiplicity; see ``composed_epsilon``."""
    return composed_epsilon(Counter(dict(releases)), delta)


FUNCTIONS = (
    *(calibrate_and_price, quote, quote_own, describe, compose),
    *(stream_quotes.quote_stream, histogram_remedies.remedies, histogram_remedies.fitted),
)


def public(prepared: PreparedQuery) -> PreparedQuery:
    """Leave out what a computation does not need: keys, and the statement over the data."""
    return replace(prepared, keys=None, statement=None, canonical_hash=None, spelled_hash=None)


def among(quote: Quote, accounts: Accounts) -> Quote:
    """Return a quote from another process with the accounts that it was made for."""
    own = {account.tier.id: account for _, account in accounts if account is not None}
    return replace(
        quote, charges=[(own[account.tier.id], at, cost) for account, at, cost in quote.charges]
    )
