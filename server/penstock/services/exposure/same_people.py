"""Declare that datasets have the same people; a declaration is never withdrawn.

A fingerprint covers a file's bytes, so the same table as CSV and as Parquet makes two datasets with
separate budgets.  Once an admin declares that they have the same people, losses, grants and
spending are added up over both, as over versions of one dataset.  The relation is transitive: each
dataset has one group, or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session

from penstock.errors import Conflict, InvalidInput
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal, require_still
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.datasets.population import POINTER, join, named, require_comparable, spec_of
from penstock.services.exposure.compositions import composed
from penstock.services.exposure.exposure import reach, reach_of, visible
from penstock.services.ledger.accounts import open_account
from penstock.services.ledger.version_chains import of_same_people, split
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.exposure import ReachView
from penstock.services.schemas.views import DatasetView, PrivacyBudget


@dataclass(frozen=True)
class SamePeopleTierView:
    """Hold what one person may lose to a tier: in each dataset now, in all of them then.

    ``granted`` are budgets, ``spent`` is what the tier may request; null if it sees nothing.
    """

    tier: str
    granted: ReachView | None
    granted_there: ReachView | None
    granted_together: ReachView
    spent_together: PrivacyBudget


@dataclass(frozen=True)
class SamePeoplePreviewView:
    """Hold what the declaration would mean; ``datasets`` are all that it would join."""

    dataset: str
    same_people_as: str
    datasets: list[str]
    tiers: list[SamePeopleTierView]


def declare(server: Server, principal: Principal, name: str, other: str) -> DatasetView:
    """Declare that two datasets, and all that share people with either, hold the same people.

    No budget changes, and nothing is charged: from now on what was granted and spent in all of
    them counts together.  The declaration cannot be withdrawn.  Raises ``NotFound``,
    ``InvalidInput`` for a dataset that does not exist and for the same one, and ``Conflict`` if
    it is declared already, or if losses of both cannot be added up.
    """
    principal.require("admin")
    with server.database.write() as session:
        require_still(session, principal, "admin")
        dataset, other_dataset = _both(session, name, other)
        join(session, server, principal, dataset, other_dataset)
        return datasets.view(session, dataset, None)


def preview(server: Server, principal: Principal, name: str, other: str) -> SamePeoplePreviewView:
    """Return how ``declare`` would change the losses to each tier.  Raises as it does.

    Nothing is done.  If the sums are larger than they should be, a budget may be lowered, down to
    what is spent.
    """
    principal.require("admin")
    with server.database.read() as session:
        dataset, other_dataset = _both(session, name, other)
        here, there = of_same_people(session, dataset), of_same_people(session, other_dataset)
        require_comparable(spec_of(dataset), there)
        views = [_tier(session, here, there, tier) for tier in ordered_tiers(session)]
        names = [part[0].name for part in split([*here, *there])]
        return SamePeoplePreviewView(
            dataset.name, other_dataset.name, names, [view for view in views if view is not None]
        )


def _both(session: Session, name: str, other: str) -> tuple[Dataset, Dataset]:
    dataset, other_dataset = dataset_by_name(session, name), named(session, other)
    if dataset.folded == other_dataset.folded:
        raise InvalidInput(
            "This is the dataset itself, whose versions all count together already; name another"
            " dataset.",
            pointer=POINTER,
        )
    if dataset.people is not None and dataset.people == other_dataset.people:
        raise Conflict(
            f"It is declared already that {dataset.name!r} and {other_dataset.name!r} hold the same"
            " people; nothing was changed.",
        )
    return dataset, other_dataset


def _tier(
    session: Session, here: Sequence[Dataset], there: Sequence[Dataset], tier: Tier
) -> SamePeopleTierView | None:
    both = [*here, *there]
    accounts = [open_account(session, required(member.id), tier) for member in both]
    granted = [reach_of(account) for account in accounts]
    together = reach(both, granted)
    if together is None:
        return None
    lines = [
        visible(session, member, account) for member, account in zip(both, accounts, strict=True)
    ]
    return SamePeopleTierView(
        tier.name,
        reach(here, granted[: len(here)]),
        reach(there, granted[len(here) :]),
        together,
        composed(lines),
    )
