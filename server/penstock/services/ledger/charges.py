"""Store a query's row and charge every tier that sees it, in one transaction.

It serves queries and streams: nothing is drawn before all of it is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Integer, bindparam
from sqlalchemy import select as core_select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from penstock.accounting.calibration.levels import VERSION as CALIBRATION_VERSION
from penstock.errors import Conflict, NameTaken
from penstock.persistence.dialects import duplicate
from penstock.persistence.row_authentication import store_new
from penstock.persistence.row_numbers import listed, next_number, next_numbers, required
from penstock.persistence.statements.entities import made
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import HANDED, exposure_of, leaf_of, reader_of
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.accounts import (
    TierAccount,
    append_charges,
    open_accounts,
    require_room,
)
from penstock.services.ledger.allowed_levels import allow_first
from penstock.services.ledger.effective_levels import (
    DELETED_TIERS,
    counts_deleted_tiers,
    recharge,
)
from penstock.services.ledger.quotes import Quote
from penstock.services.noise.keys import fresh_query_key
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.queries import in_sight
from penstock.services.schemas.queries import Terms
from penstock.spec_fields import folded
from penstock.transparency_log.leaves import append_all

Accounts = Sequence[tuple[Tier, TierAccount | None]]


def accounts_of(session: Session, dataset: Dataset, limit: Tier | None = None) -> Accounts:
    """Return every tier, least trusted first, and its account; none for tiers above ``limit``."""
    accounts = open_accounts(session, required(dataset.id))
    if limit is None:
        return accounts
    return [(tier, account if tier.rank <= limit.rank else None) for tier, account in accounts]


def require_same_accounts(settled: Accounts, fresh: Accounts) -> None:
    """Refuse a quote that was made for other tiers or budgets than the present ones."""

    def terms(accounts: Accounts) -> list[tuple[int | None, object]]:
        return [(tier.id, account and account.account) for tier, account in accounts]

    if settled is not fresh and terms(settled) != terms(fresh):
        raise Conflict("The tiers or their budgets changed in the meantime; try again.")


def row_of(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    name: str,
    terms: Terms,
    quote: Quote,
    dimension: int,
    spec: str,
    **own: Any,
) -> Query:
    """Return the row of a new query; ``own`` are the columns that only some requests set."""
    process = quote.process
    columns = dict(
        name=name,
        folded=folded(name),
        dataset_id=required(dataset.id),
        spec=spec,
        dimension=dimension,
        mechanism=process.mechanism.name,
        power=None if process.power is None else str(process.power),
        calibration=CALIBRATION_VERSION,
        granularity=str(process.mechanism.granularity),
        sensitivity_l1=str(process.sensitivity.l1),
        sensitivity_l2_squared=str(process.sensitivity.l2_squared),
        sensitivity_linf=str(process.sensitivity.linf),
        ladder_finest=str(process.ladder.finest),
        ladder_unit=str(process.ladder.unit),
        ladder_doubling=process.ladder.doubling,
        ladder_last=process.ladder.last,
        ceiling=quote.ceiling,
        max_levels=terms.max_levels,
        status="pending",
        seq=-1,
        wrapped_dek=fresh_query_key(server, dataset, folded(name)),
        created_at=server.clock(),
        by=principal.name,
        declaration=dataset.declaration,
        **process.columns(),
        **own,
    )
    return made(Query, columns)


def charge_all(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    quote: Quote,
    accounts: Accounts,
    also: Mapping[str, object] | None = None,
) -> None:
    """Store the row and charge every tier that sees it.

    ``accounts`` are read again: others may have spent since the quote was made.  ``also`` are more
    fields of the query's leaf.  Raises ``BudgetExhausted`` and ``NameTaken``.
    """
    key, now = required(dataset.id), query.created_at
    current = {tier.id: account for tier, account in accounts if account is not None}
    due = [(current[settled.tier.id], rung, new) for settled, rung, new in quote.charges]
    require_room(session, key, [(account, new) for account, _, new in due])
    before = _before(session, principal, len({account.tier.id for account, _, _ in due}) + 1)
    query.id = before.query_id
    try:
        store_new(session, query)
    except IntegrityError as problem:
        # It was registered since the check, under another dataset, which is not locked.
        if not duplicate(problem):
            raise
        raise name_taken(query.readable) from problem
    # Once for all leaves: it takes longer than any of them.
    exposure = exposure_of(session, principal, dataset) if before.has_read else {}
    own = {**kind_of(query).leaf(), **(also or {})}
    leaf = leaf_of(session, principal, "query", now, exposure, dataset=dataset, query=query, **own)
    append_charges(
        session,
        [(account, required(query.id), rung, new) for account, rung, new in due],
        dataset_id=key,
        at=now,
    )
    names = {required(account.tier.id): account.tier.name for account, _, _ in due}
    rungs = {key: quote.rungs[name] for key, name in names.items()}
    # Deleted tiers are also charged for what the tiers below them see; all others are charged.
    if before.may_count_deleted_tiers and counts_deleted_tiers(session):
        recharge(session, dataset, [query], now, allowed={required(query.id): rungs})
    levels = allow_first(session, principal, dataset, query, rungs, names, now, exposure)
    appended = [leaf, *levels]
    for number, own_leaf in zip(before.leaf_ids, appended, strict=True):
        own_leaf.id = number
    append_all(session, appended)


@dataclass(frozen=True)
class _Before:
    """Hold numbers for the rows of a registration, and which rows have to be read for it.

    Rows that its caller was handed are read if there are any, and so are deleted tiers.
    """

    query_id: int
    leaf_ids: Sequence[int]
    has_read: bool
    may_count_deleted_tiers: bool


def _before(session: Session, principal: Principal, count: int) -> _Before:
    """Take numbers for a query and ``count`` leaves; the same statement looks what else is read."""
    session.flush()
    connection = session.connection()
    parameters = {**reader_of(principal), "leaves": count}
    row = _looks(connection.dialect.name).first(connection, parameters)
    if row is None:
        raise RuntimeError("a statement without a table has one row")
    numbers = listed(row["leaves"], count)
    return _Before(row["query"], numbers, bool(row["has_read"]), bool(row["deleted"]))


@cache
def _looks(dialect: str) -> Prepared:
    return Prepared(
        core_select(
            next_number(dialect, "query").label("query"),
            next_numbers(dialect, "leaf", bindparam("leaves", type_=Integer)).label("leaves"),
            HANDED.exists().label("has_read"),
            DELETED_TIERS.label("deleted"),
        )
    )


def require_free_name(session: Session, name: str, limit: Tier | None = None) -> None:
    """Raise ``NameTaken`` if a query or stream that ``limit`` sees has the name."""
    known = select(Query) if limit is None else select(Query).where(in_sight(limit))
    if session.exec(known.where(col(Query.folded) == folded(name))).first() is not None:
        raise name_taken(name)


def name_taken(name: str) -> NameTaken:
    """Return the error for a name that a query or a stream has already."""
    return NameTaken(f"There is a query or stream {name!r} already; choose another name.")


def registered_already(name: str, *, retired: bool = False, more: str = "") -> Conflict:
    """Return the refusal of a statistic that a query of this name is already."""
    if retired:
        text = (
            ", which is retired: it gives no new releases, and those that were handed out can still"
            " be read. No statistic is registered twice. Ask another one, for example of other"
            " groups, rows or bins."
        )
    else:
        text = f"; use that one: drawing it twice would cost its budget twice.{more}"
    return Conflict(f"This statistic is registered already, as query {name!r}{text}", query=name)
