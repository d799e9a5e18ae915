"""Show an admin what an allowance would leave to analysts, before it is given."""

from dataclasses import dataclass

from penstock.accounting.charging.ledger import left_of, limit_of
from penstock.persistence.row_numbers import required
from penstock.services.access.principals import Principal
from penstock.services.allowances.open_allowances import opened, spent_at
from penstock.services.context import Server
from penstock.services.datasets import allowances
from penstock.services.schemas.datasets import AllowanceSpec


@dataclass(frozen=True)
class GivenAllowanceView:
    """Hold a preview of an allowance; shares are of its own loss, ``before`` of the present one's.

    What is registered already counts, at the order that suits the new epsilon.  ``users`` is null
    if all analysts of the tier may use it.  ``epsilon_before`` and ``left_before`` are null if the
    tier has none.  ``second`` is true if another admin must approve it.  ``notes`` say what of it
    could not be used as things are now.
    """

    dataset: str
    tier: str
    epsilon_before: float | None
    left_before: float | None
    epsilon: float
    users: list[str] | None
    spent_share: float
    remaining_share: float
    second: bool
    notes: list[str]


def preview(
    server: Server, principal: Principal, dataset_name: str, tier_name: str, spec: AllowanceSpec
) -> GivenAllowanceView:
    """Preview giving a tier an allowance; nothing is done.  Raises what giving it would."""
    principal.require("admin")
    with server.database.read() as session:
        dataset, tier, account, users = allowances.settled(session, dataset_name, tier_name, spec)
        before = opened(session, dataset, tier)
        spent = spent_at(session, required(dataset.id), required(tier.id), account)
        limit = limit_of(account).loss
        return GivenAllowanceView(
            dataset=dataset.name,
            tier=tier.name,
            epsilon_before=None if before is None else before.account.epsilon,
            left_before=None if before is None else before.left,
            epsilon=account.epsilon,
            users=allowances.named(session, users),
            spent_share=spent.loss / limit,
            remaining_share=left_of(account, spent).loss / limit,
            second=server.settings.two_person_rule
            and allowances.permits_more(before, account, users),
            notes=allowances.notes(session, dataset, tier, account.epsilon, users),
        )
