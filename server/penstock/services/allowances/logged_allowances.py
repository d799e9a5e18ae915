"""Write the leaves of allowances, and compare the tables of allowances with the log."""

import json
from collections.abc import Iterator

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import account_of
from penstock.accounting.charging.ledger import NOTHING, Entry, limit_of
from penstock.errors import InvalidInput
from penstock.persistence.tables.datasets import Allowance, Dataset
from penstock.persistence.tables.ledger import AllowanceCharge
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.logged_subject import LeafFields, ascending, name_of, versions
from penstock.transparency_log.sights import Sight


def record_allowance(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    tier: Tier,
    row: Allowance,
    users: list[str] | None,
) -> None:
    """Append the leaf of an allowance that was given, changed, or taken back (epsilon null)."""
    record(
        session,
        principal,
        "allowance",
        row.at,
        dataset=dataset,
        version=dataset.version,
        tier=tier.name,
        epsilon=row.epsilon,
        delta=row.delta,
        users=users,
    )


def spent_under(tier: Tier, by: str, cost: Entry) -> dict[str, object]:
    """Return what the leaf of a query says of the allowance that it was registered under."""
    spent = {"tier": tier.name, "by": by, "loss": cost.loss, "failure": cost.failure}
    return {"allowance": spent}


class LoggedAllowances:
    """Hold the allowances that the log has, and the queries that were registered under each."""

    def __init__(self) -> None:
        self._allowances = versions()
        self._spent: dict[str, tuple[object, ...]] = {}

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of an allowance, or of a query that was registered under one."""
        if leaf["kind"] == "allowance":
            key = leaf["dataset"], str(leaf["version"]), leaf["tier"]
            self._allowances[key].append((leaf.get("epsilon"), leaf["delta"], leaf.get("users")))
        elif leaf["kind"] == "query" and leaf.get("allowance"):
            taken = leaf["allowance"]
            parts = (taken[name] for name in ("tier", "by", "loss", "failure"))
            self._spent[leaf["query"]] = (leaf["dataset"], *parts)

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where allowances, their limits, or what was spent of them differ."""
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        datasets = {dataset.id: dataset for dataset in session.exec(select(Dataset)).all()}
        users = {user.id: user.name for user in session.exec(select(User)).all()}
        rows = session.exec(select(Allowance).order_by(col(Allowance.id))).all()
        stored = versions()
        for row in rows:
            dataset, tier = datasets.get(row.dataset_id), name_of(tiers.get(row.tier_id))
            named = None if row.users is None else [users.get(key) for key in json.loads(row.users)]
            key = name_of(dataset), str(dataset.version if dataset else 0), tier
            stored[key].append((row.epsilon, row.delta, named))
            if not has_its_limit(row):
                yield f"the limit of the allowance of {tier!r} in {key[0]!r} is not its own"
        numbered = [((row.dataset_id, row.tier_id), row.version) for row in rows]
        if stored != self._allowances or not ascending(numbered):
            yield "the allowances are not those of the log"
        yield from self._spending(session, {row.id: row for row in rows}, tiers, datasets)

    def _spending(
        self,
        session: Session,
        rows: dict[int | None, Allowance],
        tiers: dict[int | None, Tier],
        datasets: dict[int | None, Dataset],
    ) -> Iterator[str]:
        taken: dict[str, tuple[object, ...]] = {}
        totals: dict[int, tuple[int, Entry]] = {}
        queries = {query.id: query for query in session.exec(select(Query)).all()}
        charges = select(AllowanceCharge).order_by(
            col(AllowanceCharge.allowance_id), col(AllowanceCharge.seq)
        )
        for charge in session.exec(charges).all():
            row, query = rows.get(charge.allowance_id), queries.get(charge.query_id)
            before = NOTHING if row is None else Entry(row.spent_loss, row.spent_failure)
            seq, spent = totals.get(charge.allowance_id, (0, before))
            spent += Entry(charge.loss, charge.failure)
            if (charge.seq, charge.loss_total, charge.failure_total) != (seq, *_pair(spent)):
                yield f"what {name_of(query)!r} took of its allowance does not add up"
            totals[charge.allowance_id] = seq + 1, spent
            if query is None or row is None or query.allowance_id != row.id:
                yield f"{name_of(query)!r} is not of the allowance that it took from"
                continue
            names = name_of(datasets.get(row.dataset_id)), name_of(tiers.get(row.tier_id))
            taken[query.name] = (*names, query.by, charge.loss, charge.failure)
        under = {query.name for query in queries.values() if query.allowance_id is not None}
        if taken != self._spent or under != taken.keys():
            yield "the queries under allowances are not those of the log"


def has_its_limit(row: Allowance) -> bool:
    """Return True if an allowance's limit follows from its epsilon and delta, or it has none."""
    if row.epsilon is None:
        return (row.limit_loss, row.limit_failure) == (0, 0)
    try:
        limit = limit_of(account_of(row.epsilon, row.delta, row.order))
    except InvalidInput:
        return False
    return _pair(limit) == (row.limit_loss, row.limit_failure)


def _pair(entry: Entry) -> tuple[int, int]:
    return entry.loss, entry.failure
