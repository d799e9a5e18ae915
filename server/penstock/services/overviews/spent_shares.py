"""Find the datasets of which most is spent, for admins and auditors."""

from dataclasses import dataclass

from sqlmodel import Session, col, func, select

from penstock.accounting.charging.ledger import limit_of
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.accounts import open_accounts

LOOKED_AT = 24
"""The newest datasets that are looked at: each takes a statement."""


@dataclass(frozen=True)
class SpentView:
    """Hold the tier of a dataset that has spent the largest share of its budget."""

    dataset: str
    tier: str
    share: float


@dataclass(frozen=True)
class SpentSharesView:
    """Hold datasets, the most spent first: ``looked_at`` were looked at, of ``count``."""

    datasets: list[SpentView]
    looked_at: int
    count: int

    def above(self, share: float) -> list[SpentView]:
        """Return the datasets of which a tier spent more than ``share`` of its budget."""
        return [dataset for dataset in self.datasets if dataset.share > share]


def look(server: Server, principal: Principal) -> SpentSharesView:
    """Return the newest datasets by what is spent of their newest versions.

    Those without a budget, and those whose keys were destroyed, are left out.  Raises
    ``Forbidden``.
    """
    principal.require("admin", "auditor")
    with server.database.read() as session:
        newest = (
            select(func.max(col(Dataset.id)))
            .where(col(Dataset.withdrawn_at).is_(None))
            .group_by(col(Dataset.folded))
        )
        present = select(Dataset.id, Dataset.name).where(
            col(Dataset.id).in_(newest), col(Dataset.wrapped_kek) != b""
        )
        rows = session.exec(present.order_by(col(Dataset.id).desc())).all()
        shown = [_spent(session, required(key), name) for key, name in rows[:LOOKED_AT]]
    spent = sorted((view for view in shown if view), key=lambda view: view.share, reverse=True)
    return SpentSharesView(spent, min(len(rows), LOOKED_AT), len(rows))


def _spent(session: Session, key: int, name: str) -> SpentView | None:
    shares = [
        SpentView(name, tier.name, account.spent.loss / limit_of(account.account).loss)
        for tier, account in open_accounts(session, key)
        if account is not None
    ]
    # Of equal shares the most trusted tier's, which is the last.
    return max(reversed(shares), key=lambda view: view.share, default=None)
