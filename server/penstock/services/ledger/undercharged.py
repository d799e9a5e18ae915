"""Find and correct accounts that were charged too little before charges followed budgets.

An earlier version of this server charged nothing for raised budgets.  A migration of the schema
cannot price queries, so the server itself corrects this after an upgrade.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from penstock.errors import BudgetExhausted
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.ledger.effective_levels import ladder
from penstock.services.ledger.repricing import Repriced, refused, reprice, repriced
from penstock.services.ledger.tier_budgets import budgets_of, newest_budget, set_budget

MOST_NAMED = 5


@dataclass(frozen=True)
class Undercharged:
    """Hold an account that was charged too little; ``refusal`` says why it stays unchanged."""

    dataset: str
    version: int
    tier: str
    queries: Sequence[str]
    refusal: str | None

    @property
    def sentence(self) -> str:
        """Return the account in words."""
        named = ", ".join(self.queries[:MOST_NAMED])
        more = len(self.queries) - MOST_NAMED
        return (
            f"tier {self.tier!r} in version {self.version} of {self.dataset!r}"
            f" ({named}{f' and {more} more' if more > 0 else ''})"
        )


def undercharged(session: Session) -> list[Undercharged]:
    """Return the accounts that are charged too little.  Nothing is done."""
    return [_described(session, *account) for account in _accounts_without_room(session)]


def put_right(server: Server) -> list[Undercharged]:
    """Charge every such account what is missing, and return them.

    An account without room for that stays unchanged.
    """
    with server.database.read() as session:
        keys = [
            (dataset.id, account.account.tier.id)
            for dataset, account in _accounts_without_room(session)
        ]
    done = []
    for dataset_id, tier_id in keys:
        with server.database.read() as session:
            dataset, tier = session.get_one(Dataset, dataset_id), session.get_one(Tier, tier_id)
            (account,) = repriced(session, dataset, [tier])
            result = _described(session, dataset, account)
        if result.refusal is None:
            with server.database.write() as session:
                now = server.clock()
                set_budget(session, OPERATOR, dataset, tier, account.account.account, now)
                reprice(session, dataset, [tier], now)
        done.append(result)
    return done


def _accounts_without_room(session: Session) -> Iterator[tuple[Dataset, Repriced]]:
    tiers = ladder(session)
    for dataset in session.exec(select(Dataset).order_by(col(Dataset.id))).all():
        if all(len(budgets_of(session, dataset, tier)) < 2 for tier in tiers):
            continue  # no budget was ever raised here, nor taken over from a raised one
        old = [tier for tier in tiers if _is_old(session, dataset, tier)]
        for account in repriced(session, dataset, old):
            if _missing(account):
                yield dataset, account


def _is_old(session: Session, dataset: Dataset, tier: Tier) -> bool:
    newest = newest_budget(session, dataset, tier)
    return newest is not None and newest.highest_epsilon is None


def _missing(account: Repriced) -> list[str]:
    """Return the names of the queries that were charged too little."""
    return [due.query.readable for due in account.dues if due.cost.loss > 0 or due.cost.failure > 0]


def _described(session: Session, dataset: Dataset, account: Repriced) -> Undercharged:
    refusal: BudgetExhausted | None = refused(session, dataset, [account])
    return Undercharged(
        dataset.name,
        dataset.version,
        account.account.tier.name,
        _missing(account),
        refusal.detail if refusal else None,
    )
