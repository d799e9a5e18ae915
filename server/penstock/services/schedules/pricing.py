"""Price one occurrence before anything of it is registered: its version, and each of its queries.

The version's accounts are those that registering it would open, empty; each query is charged to
them after those before it, by the rules of registering it.  Nothing is read but specs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.accounting.charging.budget import Account
from penstock.accounting.charging.ledger import NOTHING, check, limit_of, total
from penstock.errors import BudgetExhausted
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_no_larger
from penstock.services.computations import computations
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.datasets.datasets import spec_text
from penstock.services.ledger.accounts import TierAccount, resolve
from penstock.services.ledger.charges import Accounts
from penstock.services.ledger.quotes import require_tiers
from penstock.services.ledger.tier_budgets import largest
from penstock.services.ledger.version_chains import versions_of
from penstock.services.queries.exact_answers import planned, require_dimension
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.queries.refused_histograms import solved
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers
from penstock.services.schedules.templates import Requests
from penstock.services.schemas.queries import DatasetRequest, SpecRequest


@dataclass(frozen=True)
class TierPrice:
    """Hold a tier's part of an occurrence: its budget in the version, and each query's share."""

    tier: str
    account: Account
    shares: Sequence[float]


def priced(
    server: Server, principal: Principal, spec: DatasetRequest, requests: Requests
) -> list[TierPrice]:
    """Return what an occurrence would charge, tier by tier.

    ``spec`` is the declaration of the version that it would register.  Raises as registering it
    would, ``BudgetExhausted`` among them, before anything is stored.
    """
    with server.database.read() as session:
        newest = dataset_by_name(session, spec.name)
        most = largest(session, versions_of(session, newest))
        tiers = ordered_tiers(session)
    budgets = requests.version.budgets
    require_no_larger(server, most, [budget.epsilon for budget in budgets.values()])
    resolved = resolve(spec.budgets, tiers, spec.delta, spec.accountant)
    coming = Dataset(**{**newest.model_dump(exclude={"id"}), "spec": spec_text(spec)})
    accounts: Accounts = [
        (
            tier,
            TierAccount(tier, resolved[tier.name], NOTHING, 0) if tier.name in resolved else None,
        )
        for tier in tiers
    ]
    shares: dict[str, list[float]] = {name: [] for name in resolved}
    for request in requests.queries:
        accounts, charged = _charged(server, principal, coming, accounts, request)
        for name, each in shares.items():
            each.append(charged.get(name, 0.0))
    return [TierPrice(name, account, shares[name]) for name, account in resolved.items()]


def _charged(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    accounts: Accounts,
    request: SpecRequest,
) -> tuple[Accounts, dict[str, float]]:
    """Return the accounts after a query, and its share of each."""
    require_tiers(request, accounts)
    prepared = planned(dataset, request)
    require_dimension(server, prepared)
    prepared_request = PreparedRequest(server, principal, PATIENCE, dataset, request, prepared)
    prepared_request = solved(prepared_request, accounts)
    quoted = prepared_request.run(computations.calibrate_and_price, accounts, dataset.delta)
    quote = computations.among(quoted, accounts)
    spent, shares = {}, {}
    for account, _, cost in quote.by_tier():
        if check(account.account, account.spent, cost) is not None:
            raise BudgetExhausted(
                f"The version's budget does not suffice for query {request.name!r}: tier"
                f" {account.tier.name!r} would be charged more than is left after the queries"
                " before it. Raise the version's budgets, or lower the levels."
            )
        spent[account.tier.id] = replace(account, spent=total([account.spent, cost]))
        shares[account.tier.name] = cost.loss / limit_of(account.account).loss
    after = [(tier, spent.get(tier.id, account)) for tier, account in accounts]
    return after, shares
