"""Give a query a level at its maker's tier alone, and charge it to every tier that sees it.

A request under an allowance says what the analyst's own tier gets; the tiers above have the same
level, and are charged for it by their own accounts.
"""

from collections.abc import Sequence

from penstock.connectors.planning.refusals import pointer
from penstock.errors import BudgetExhausted, Forbidden, InvalidInput
from penstock.persistence.tables.people import Tier
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.quotes import Quote
from penstock.services.schemas.queries import Terms
from penstock.spec_fields import folded

Accounts = Sequence[tuple[Tier, TierAccount | None]]


def require_own_level(terms: Terms, tier: Tier) -> None:
    """Raise ``InvalidInput`` for a level at another tier than the analyst's own."""
    for name in terms.levels or {}:
        if folded(name) != tier.folded:
            raise InvalidInput(
                f"Under an allowance a query has a level at the tier of the allowance alone,"
                f" {tier.name!r}; those above get the same, and none below sees it. Leave"
                f" {name!r} out.",
                pointer=pointer("levels", name),
            )


def alone(accounts: Accounts, tier: Tier) -> Accounts:
    """Return the accounts as if no other tier than ``tier`` had one."""
    return [(other, account if other.id == tier.id else None) for other, account in accounts]


def for_all_above(
    quote: Quote, accounts: Accounts, tier: Tier, dimension: int, max_levels: int
) -> Quote:
    """Return a quote for ``tier`` alone with the charges of the tiers above it."""
    kind, rung = quote.process, quote.rungs[tier.name]
    seeing = [
        (other, account)
        for other, account in accounts
        if account is not None and other.rank >= tier.rank
    ]
    charges = [
        (account, each, kind.price(each, account.account, dimension, max_levels))
        for _, account in seeing
        for each in kind.levels.telling({rung})
    ]
    return Quote(kind, {other.name: rung for other, _ in seeing}, charges)


def require_histogram_at(terms: Terms, tier: Tier) -> None:
    """Raise ``Forbidden`` for a sparse histogram whose false keys other tiers decide."""
    named = getattr(terms, "false_keys", None)
    if isinstance(named, dict) and any(folded(name) != tier.folded for name in named):
        raise Forbidden(
            f"Under an allowance a histogram has false keys at {tier.name!r} alone; leave the other"
            " tiers out."
        )


def without_tiers_above(problem: BudgetExhausted, tier: Tier, terms: Terms) -> BudgetExhausted:
    """Return a refusal that does not tell an analyst what the tiers above theirs have spent.

    It says what would help of what the query's ``terms`` say.
    """
    if problem.data.get("tier") == tier.name:
        return problem
    *ways, last = [
        "more noise",
        *(["a lower max_levels"] if "max_levels" in terms.model_fields_set else []),
        *(["fewer false keys"] if hasattr(terms, "false_keys") else []),
    ]
    listed = f"{', '.join(ways)} or {last}" if ways else last
    return BudgetExhausted(
        f"The budget of a tier above {tier.name!r}, which would see the query as well, does not"
        f" allow it. Take {listed}, or ask an admin."
    )
