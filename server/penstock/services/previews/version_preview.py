"""Preview a new version of a dataset: its consequences for budgets.

Its file is checked for format and column names, as in registering it.  Only registering detects
that the same file is registered already, since that needs all of the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session

from penstock.accounting.charging.budget import Account
from penstock.errors import Forbidden
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_no_larger
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.exposure.exposure import reach, reach_of
from penstock.services.ledger.accounts import open_account, resolve
from penstock.services.ledger.tier_budgets import largest
from penstock.services.ledger.version_chains import last_version, of_same_people, versions_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.exposure import ReachView
from penstock.services.schemas.queries import VersionRequest


@dataclass(frozen=True)
class VersionTierView:
    """Hold how much one person may lose to a tier; null if it sees nothing.

    ``before``: over all versions until now; ``own``: in the new one; ``together``: over all
    versions then, added up over those that one person may be in.  Datasets of the same people count
    with it.
    """

    tier: str
    before: ReachView | None
    own: ReachView | None
    together: ReachView | None


@dataclass(frozen=True)
class VersionPreviewView:
    """Hold a version as it would be registered; ``refusal`` says why it would not be."""

    dataset: str
    version: int
    disjoint_units: bool
    tiers: list[VersionTierView]
    refusal: str | None


def preview(
    server: Server, principal: Principal, name: str, request: VersionRequest
) -> VersionPreviewView:
    """Preview a new version; nothing is done.

    Raises as ``datasets.add_version`` does, except under the two-person rule, which the answer
    states, and for a file that is registered already.
    """
    principal.require("admin")
    with server.database.read() as session:
        before = dataset_by_name(session, name)
    spec = datasets.next_version(server, before, request)
    with server.database.read() as session:
        versions = versions_of(session, dataset_by_name(session, name))
        shared = of_same_people(session, versions[-1])
        tiers = ordered_tiers(session)
        accounts = resolve(spec.budgets, tiers, spec.delta, spec.accountant)
        number = last_version(session, versions[-1]) + 1
        own = {"version": number, "disjoint_units": request.disjoint_units}
        coming = Dataset(**{**versions[-1].model_dump(exclude={"id"}), **own})
        return VersionPreviewView(
            dataset=before.name,
            version=number,
            disjoint_units=request.disjoint_units,
            tiers=[
                view for tier in tiers if (view := _tier(session, shared, coming, tier, accounts))
            ],
            refusal=_refusal(session, server, versions, request),
        )


def _tier(
    session: Session,
    versions: Sequence[Dataset],
    coming: Dataset,
    tier: Tier,
    accounts: Mapping[str, Account],
) -> VersionTierView | None:
    known = [reach_of(open_account(session, required(version.id), tier)) for version in versions]
    account = accounts.get(tier.name)
    own = ReachView(tier.name, account.epsilon, account.delta) if account else None
    together = reach([*versions, coming], [*known, own])
    if together is None:
        return None
    return VersionTierView(tier.name, reach(versions, known), own, together)


def _refusal(
    session: Session, server: Server, versions: Sequence[Dataset], request: VersionRequest
) -> str | None:
    most = largest(session, versions)
    try:
        require_no_larger(server, most, [budget.epsilon for budget in request.budgets.values()])
    except Forbidden as problem:
        return problem.detail
    return None
