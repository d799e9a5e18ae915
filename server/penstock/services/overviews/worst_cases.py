"""Say what everybody together could learn of a dataset, beside the budget that bounds it.

All tiers see points of one noise process, so everybody together knows what the best-informed know:
the worst coalition is everybody, and its bound is that of the highest tier that anybody ever held.
The loss is the one that the accounts themselves imply.  It is at least the one that is composed
from every level on the page about coalitions, and takes as long however many queries there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import col, select

from penstock.persistence.tables.people import Clearance, Tier
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.exposure.by_tier import bounds
from penstock.services.ledger.effective_levels import place
from penstock.services.ledger.version_chains import of_same_people
from penstock.services.repository.datasets import dataset_by_name


@dataclass(frozen=True)
class WorstCaseView:
    """Hold what everybody together could learn of a dataset, and of others with the same people.

    ``tier`` is the highest that anybody ever held, ``possible`` bounds the loss by all releases of
    what is registered, and ``budget`` that by all that may ever be.  Both losses are None if there
    are too many versions to add up here; ``others`` are the datasets with the same people.
    """

    dataset: str
    others: list[str]
    tier: str
    possible: float | None
    budget: float | None


def look(server: Server, principal: Principal, names: Sequence[str]) -> list[WorstCaseView]:
    """Return the worst case of each of the datasets; of those with the same people, the first's.

    Those in which the highest tier that anybody ever held has no budget are left out.  Raises
    ``Forbidden`` and ``NotFound``.
    """
    principal.require("auditor")
    shown: list[WorstCaseView] = []
    with server.database.read() as session:
        ever = select(Tier).where(col(Tier.id).in_(select(col(Clearance.tier_id))))
        highest = max(session.exec(ever).all(), key=place, default=None)
        if highest is None:
            return []
        known: set[str] = set()
        for name in names:
            dataset = dataset_by_name(session, name)
            if dataset.folded in known:
                continue
            versions = of_same_people(session, dataset)
            known |= {version.folded for version in versions}
            others = {version.name for version in versions if version.folded != dataset.folded}
            losses = bounds(session, versions, highest)
            if losses is not None:
                view = WorstCaseView(dataset.name, sorted(others), highest.name, *losses)
                shown.append(view)
    return shown
