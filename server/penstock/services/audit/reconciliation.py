"""Tiers, people, tokens, budgets, levels, charges and proposals, held to the leaves of them.

Every change of these has a leaf that says what it came to.  So whatever stands in the tables
without a leaf was put there by somebody else, and whatever a leaf says and the tables do not
was taken away.  What an account has spent has no leaf: its charges are added up, every level
must be paid for, and no account may have spent less than the witness saw.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlmodel import Session, col, func, select

from penstock.accounting import account_of, limit_of
from penstock.errors import InvalidInput, LogUnavailable
from penstock.persistence.tables import (
    Charge,
    Clearance,
    Dataset,
    Decision,
    FormerDeclaration,
    Leaf,
    Proposal,
    Query,
    QueryLevel,
    Release,
    SpentFloor,
    Tier,
    TierBudget,
    Token,
    User,
)
from penstock.services.access.principals import roles_of
from penstock.services.context import Server
from penstock.services.datasets.declarations import charged, digest, number_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.transparency_log import leaves
from penstock.transparency_log.sequencer import account_name, peaks

Versions = dict[tuple[str, ...], list[object]]
"""What something came to, one after the other, by its name."""


@dataclass
class _Logged:
    """What the leaves say, in their order."""

    tiers: dict[str, object] = field(default_factory=dict)
    deleted: int = 0
    roles: dict[str, object] = field(default_factory=dict)
    shut_out: set[str] = field(default_factory=set)
    clearances: Versions = field(default_factory=lambda: defaultdict(list))
    budgets: Versions = field(default_factory=lambda: defaultdict(list))
    levels: Versions = field(default_factory=lambda: defaultdict(list))
    datasets: dict[tuple[str, object], object] = field(default_factory=dict)
    tokens: dict[str, object] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    proposals: Versions = field(default_factory=lambda: defaultdict(list))
    floors: int = 0
    frozen: int = 0
    retired: set[str] = field(default_factory=set)
    mismatches: dict[str, int] = field(default_factory=dict)
    shredded: set[tuple[str, object]] = field(default_factory=set)
    withdrawn: set[tuple[str, int]] = field(default_factory=set)
    declared: dict[tuple[str, int], list[str | None]] = field(
        default_factory=lambda: defaultdict(list)
    )

    people: dict[str, frozenset[str]] = field(default_factory=dict)

    def take(self, leaf: dict[str, Any]) -> None:
        """Take in one more leaf."""
        match leaf["kind"]:
            case "tier" if leaf.get("deleted"):
                self.deleted += 1
                self.tiers.pop(leaf["tier"], None)
            case "tier":
                self.tiers[leaf["tier"]] = leaf["rank"]
            case "user" if leaf.get("active") is False:
                self.shut_out.add(leaf["user"])
            case "user":
                if leaf["user"] not in self.roles:
                    self.clearances[leaf["user"],].append(leaf.get("tier"))
                self.roles[leaf["user"]] = leaf["roles"]
            case "clearance":
                self.clearances[leaf["user"],].append(leaf.get("tier"))
            case "budget":
                worth = leaf["epsilon"], leaf["delta"]
                self.budgets[leaf["dataset"], leaf["tier"]].append(worth)
                self.floors += leaf.get("charged", 0)
            case "level":
                self.levels[leaf["query"], leaf["tier"]].append(leaf["level"])
            case "dataset":
                self._take_dataset((leaf["dataset"], leaf["version"]), leaf)
            case _:
                self._take_act(leaf)

    def _take_dataset(self, which: tuple[str, int], leaf: dict[str, Any]) -> None:
        if leaf.get("withdrawn"):
            self.withdrawn.add(which)
            self._leave(which[0])
            return
        if other := leaf.get("same_people_as"):
            joined = self.people.get(which[0], frozenset(which[:1]))
            joined |= self.people.get(other, frozenset((other,)))
            self.people.update(dict.fromkeys(joined, joined))
            return
        about = leaf["delta"], leaf["neighboring"], leaf.get("disjoint_units", False)
        self.datasets[which] = about
        self.declared[which].append(leaf.get("declaration_sha256"))

    def _leave(self, name: str) -> None:
        """Where no version of a dataset is left, nobody is in it any more."""
        if {dataset for dataset in self.datasets if dataset[0] == name} <= self.withdrawn:
            left = self.people.pop(name, frozenset()) - {name}
            self.people.update(dict.fromkeys(left, left))

    def _take_act(self, leaf: dict[str, Any]) -> None:
        match leaf["kind"]:
            case "token" if leaf.get("revoked"):
                self.revoked.add(leaf["token"])
            case "proposal":
                request = leaves.canonical({**leaf["request"], "act": leaf["act"]}).decode()
                about = leaf["proposed_by"], request, leaves.canonical(leaf["basis"]).decode()
                self.proposals[leaf["proposal"],].append((leaf["state"], leaf["actor"], about))
            case "restore":
                self.floors += leaf.get("charged", 0)
                self.frozen += leaf.get("frozen", 0)
            case "query" if leaf.get("retired"):
                self.retired.add(leaf["query"])
            case "query" if leaf.get("mismatches"):
                self.mismatches[leaf["query"]] = leaf["mismatches"]
            case "key" if leaf.get("shredded"):
                self.shredded.add((leaf["dataset"], leaf["version"]))
            case "token":
                made = leaf["user"], leaf["scopes"], leaf["expires"], leaf.get("parent")
                self.tokens[leaf["token"]] = made


def differences(session: Session, server: Server) -> Iterator[str]:
    """What stands otherwise than the log has it, in words."""
    logged = _read_log(session)
    tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
    datasets = {dataset.id: dataset for dataset in session.exec(select(Dataset)).all()}
    queries = {query.id: query for query in session.exec(select(Query)).all()}
    alive = {tier.name: tier.rank for tier in tiers.values() if tier.deleted_at is None}
    if alive != logged.tiers or len(tiers) - len(alive) != logged.deleted:
        yield "the tiers are not those of the log"
    yield from _people(session, logged, tiers)
    yield from _datasets(session, logged, list(datasets.values()))
    yield from _budgets(session, logged, tiers, datasets)
    yield from _levels(session, logged, tiers, queries)
    yield from _charges(session, server)
    if len(session.exec(select(SpentFloor)).all()) != logged.floors:
        yield "what was spent before a restore is not what the log has"
    yield from _proposals(session, logged)
    yield from _queries(session, logged, queries, datasets)


def _read_log(session: Session) -> _Logged:
    logged = _Logged()
    # A leaf that waits for its place comes after those that have one.
    rows = session.exec(
        select(Leaf.bytes).order_by(col(Leaf.index).is_(None), col(Leaf.index), col(Leaf.id))
    )
    for content in rows:
        with suppress(ValueError, TypeError, KeyError):  # no leaf of the server's; told before
            logged.take(json.loads(content))
    return logged


def _people(session: Session, logged: _Logged, tiers: dict[int | None, Tier]) -> Iterator[str]:
    users = {user.id: user for user in session.exec(select(User)).all()}
    if {user.name: roles_of(user) for user in users.values()} != logged.roles:
        yield "the users or their roles are not those of the log"
    if {user.name for user in users.values() if user.disabled_at} != logged.shut_out:
        yield "other users are shut out than the log has it"
    versions: Versions = defaultdict(list)
    clearances = session.exec(select(Clearance).order_by(col(Clearance.id))).all()
    for row in clearances:
        tier = tiers.get(row.tier_id)
        versions[_name(users.get(row.user_id)),].append(tier.name if tier else None)
    if versions != logged.clearances or not _ascending(
        [(row.user_id, row.version) for row in clearances]
    ):
        yield "the clearances are not those of the log"
    yield from _tokens(session, logged, users)


def _tokens(session: Session, logged: _Logged, users: dict[int | None, User]) -> Iterator[str]:
    tokens = session.exec(select(Token)).all()
    prefixes = {row.id: row.prefix for row in tokens}
    known: dict[str, object] = {
        row.prefix: (
            _name(users.get(row.user_id)),
            row.scopes.split(","),
            leaves.timestamp(row.expires_at),
            prefixes.get(row.parent_id) if row.parent_id else None,
        )
        for row in tokens
    }
    if known != logged.tokens:
        yield "the tokens are not those of the log"
    for row in tokens:
        gone = row.prefix in logged.revoked or _name(users.get(row.user_id)) in logged.shut_out
        if gone != (row.revoked_at is not None):
            yield f"token {row.prefix} is revoked in the log and not here, or the other way round"


def _datasets(session: Session, logged: _Logged, datasets: Sequence[Dataset]) -> Iterator[str]:
    about = {
        (dataset.name, dataset.version): (
            dataset.delta,
            dataset.neighboring,
            dataset.disjoint_units,
        )
        for dataset in datasets
    }
    withdrawn = {
        (dataset.name, dataset.version) for dataset in datasets if dataset.withdrawn_at is not None
    }
    if about != logged.datasets or withdrawn != logged.withdrawn:
        yield "the datasets are not those of the log"
    names: dict[int, set[str]] = defaultdict(set)
    for dataset in datasets:
        if dataset.people is not None and dataset.withdrawn_at is None:
            names[dataset.people].add(dataset.name)
    shared = {name: group for group in names.values() for name in group if len(group) > 1}
    alone = {
        dataset.name
        for dataset in datasets
        if dataset.people is None and dataset.withdrawn_at is None
    }
    if shared != {name: group for name, group in logged.people.items() if len(group) > 1} or (
        alone & shared.keys()
    ):
        yield "other datasets are declared to hold the same people than the log has it"
    former: dict[int, list[str]] = defaultdict(list)
    statement = select(FormerDeclaration).order_by(col(FormerDeclaration.number))
    for row in session.exec(statement).all():
        former[row.dataset_id].append(row.spec)
    for dataset in datasets:
        named = f"dataset {dataset.name!r}, version {dataset.version},"
        # The leaf of the first has no hash of it.
        digests = [digest(spec) for spec in (*former[dataset.id or 0], dataset.spec)]
        declared = [None, *digests[1:]] == logged.declared[dataset.name, dataset.version]
        if not declared or number_of(dataset) != len(digests):
            yield f"{named} was declared otherwise in the log"
        if dataset.withdrawn_at is not None and charged(session, dataset):
            yield f"{named} is withdrawn and was charged"


def _budgets(
    session: Session,
    logged: _Logged,
    tiers: dict[int | None, Tier],
    datasets: dict[int | None, Dataset],
) -> Iterator[str]:
    rows = session.exec(select(TierBudget).order_by(col(TierBudget.id))).all()
    history: Versions = defaultdict(list)
    orders: dict[tuple[int, int, float], set[float]] = defaultdict(set)
    deltas: dict[tuple[int, int], float] = {}
    for row in rows:
        dataset, tier = _name(datasets.get(row.dataset_id)), _name(tiers.get(row.tier_id))
        history[dataset, tier].append((row.epsilon, row.delta))
        # Another delta is declared before anything is charged alone: the account begins anew.
        orders[row.dataset_id, row.tier_id, row.delta].add(row.order)
        deltas[row.dataset_id, row.tier_id] = row.delta
        try:
            limit = limit_of(account_of(row.epsilon, row.delta, row.order))
        except InvalidInput:
            limit = None
        if limit is None or (limit.loss, limit.failure) != (row.limit_loss, row.limit_failure):
            yield f"the limit of {tier!r} in {dataset!r} is not that of its budget"
    versions = [((row.dataset_id, row.tier_id), row.version) for row in rows]
    if history != logged.budgets or not _ascending(versions):
        yield "the budgets are not those of the log"
    for charge in session.exec(select(Charge)).all():
        account = charge.dataset_id, charge.tier_id
        orders[*account, deltas.get(account, math.nan)].add(charge.order)
    if any(len(order) != 1 for order in orders.values()):
        yield "an account changed its order"


def _levels(
    session: Session,
    logged: _Logged,
    tiers: dict[int | None, Tier],
    queries: dict[int | None, Query],
) -> Iterator[str]:
    rows = session.exec(select(QueryLevel).order_by(col(QueryLevel.id))).all()
    history: Versions = defaultdict(list)
    paid: dict[tuple[int, int], set[int]] = defaultdict(set)
    for charge in session.exec(select(Charge)).all():
        paid[charge.query_id, charge.tier_id].add(charge.rung)
    for row in rows:
        query, tier = queries.get(row.query_id), _name(tiers.get(row.tier_id))
        kind = kind_of(query) if query else None
        history[_name(query), tier].append(asdict(kind.level(row.rung)) if kind else None)
        rungs = paid[row.query_id, row.tier_id]
        if not (kind is not None and kind.levels.covers(rungs, row.rung)):
            yield f"a level of {_name(query)!r} for {tier!r} was not paid for"
    versions = [((row.query_id, row.tier_id), row.version) for row in rows]
    if history != logged.levels or not _ascending(versions):
        yield "the levels are not those of the log"


def _charges(session: Session, server: Server) -> Iterator[str]:
    totals: dict[tuple[int, int], tuple[int, int, int]] = {}
    for row in session.exec(select(Charge).order_by(col(Charge.seq))).all():
        account = row.dataset_id, row.tier_id
        floors = session.exec(
            select(SpentFloor).where(
                col(SpentFloor.dataset_id) == row.dataset_id, col(SpentFloor.tier_id) == row.tier_id
            )
        ).all()
        seq, loss, failure = totals.get(account, (0, 0, 0))
        first = {(loss, failure)}
        # After a restore an account goes on from what it is known to have spent.
        first |= {
            (max(loss, floor_paid.loss), max(failure, floor_paid.failure)) for floor_paid in floors
        }
        start = row.loss_total - row.loss, row.failure_total - row.failure
        if row.seq != seq or start not in first:
            yield f"the charges of tier {row.tier_id} in dataset {row.dataset_id} do not add up"
        totals[account] = row.seq + 1, row.loss_total, row.failure_total
    with suppress(LogUnavailable):  # told before
        spent = peaks(session)
        for floor, dataset in session.exec(
            select(SpentFloor, Dataset).join(Dataset, col(SpentFloor.dataset_id) == col(Dataset.id))
        ):
            name = account_name(dataset, floor.tier_id)
            known = spent.get(name, (0, 0))
            spent[name] = max(known[0], floor.loss), max(known[1], floor.failure)
        lost = restored(session)
        for name, (loss, failure) in server.sequencer.witness.seen().accounts.items():
            here = spent.get(name, (0, 0))
            if (here[0] < loss or here[1] < failure) and name not in lost:
                yield f"account {name} has spent less than the witness saw"


def _proposals(session: Session, logged: _Logged) -> Iterator[str]:
    decisions = {row.proposal_id: row for row in session.exec(select(Decision)).all()}
    versions: Versions = defaultdict(list)
    for row in session.exec(select(Proposal)).all():
        about = row.by, row.request, row.basis
        versions[row.public_id,].append(("open", row.by, about))
        decision = decisions.pop(row.id or 0, None)
        if decision is not None:
            versions[row.public_id,].append((decision.outcome, decision.by, about))
    if versions != logged.proposals or decisions:
        yield "the proposals, or what was decided about them, are not those of the log"


def _queries(
    session: Session,
    logged: _Logged,
    queries: dict[int | None, Query],
    datasets: dict[int | None, Dataset],
) -> Iterator[str]:
    gone = {key for key, row in datasets.items() if (row.name, row.version) in logged.shredded}
    retired = logged.retired | {row.name for row in queries.values() if row.dataset_id in gone}
    if {row.name for row in queries.values() if row.status == "retired"} != retired:
        yield "other queries are retired than the log has it"
    if sum(row.frozen is not None for row in queries.values()) != logged.frozen:
        yield "other queries draw nothing more than the log has it"
    if {
        row.name: row.mismatches for row in queries.values() if row.mismatches
    } != logged.mismatches:
        yield "other exact values were refused more or less often than the log has it"
    counted = select(Release.query_id, func.count()).group_by(col(Release.query_id))
    drawn = dict(session.exec(counted).all())
    for key, query in queries.items():
        if drawn.get(key or 0, 0) != query.seq + 1:
            yield f"query {query.name!r} has other releases than it drew"


def restored(session: Session) -> set[str]:
    """The accounts that are known to be lost, since a restore was acknowledged."""
    leaves = session.exec(select(Leaf.bytes).where(col(Leaf.kind) == "restore")).all()
    return {name for content in leaves for name in json.loads(content).get("accounts", ())}


def _ascending(versions: Sequence[tuple[object, int]]) -> bool:
    """Whether later rows of the same have higher versions."""
    last: dict[object, int] = {}
    for key, version in versions:
        if version <= last.get(key, 0):
            return False
        last[key] = version
    return True


def _name(row: Tier | User | Dataset | Query | None) -> str:
    return row.name if row else ""
