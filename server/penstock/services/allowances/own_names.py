"""Name queries of analysts, and find equal ones, without telling of what is out of sight.

Names and statistics are unique on a server.  If a name were refused because a query above has it,
the refusal would tell that there is such a query, and which one; the same holds for a statistic.
So a query under an allowance is stored under its name with the tier behind it, ``visits@partner``,
and admins cannot choose such names; and its hash is that of the statistic with the number of its
tier.  Both are taken only by queries that the tier sees.  Readers are shown the name without its
tier, and may use it so, as long as they see no other query that answers to it.
"""

from collections.abc import Iterable
from typing import TypeVar

from sqlalchemy import ColumnElement, String, literal, or_
from sqlmodel import Session, col, select

from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.allowances.floors import floor_of
from penstock.services.ledger.charges import name_taken
from penstock.services.repository.queries import in_sight, is_stream
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.spec_fields import LONGEST_NAME, folded

MARK = "@"

Request = TypeVar("Request", bound=ComputedQueryRequest)


def with_tier(request: Request, tier: Tier) -> Request:
    """Return a request whose name has the tier behind it.  Raises ``InvalidInput``."""
    suffix = MARK + tier.name
    if folded(request.name).endswith(folded(suffix)):
        return request
    name = request.name + suffix
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"With its tier, {suffix!r}, the name has {len(name)} characters, and a name has at"
            f" most {LONGEST_NAME}; choose a shorter one.",
            pointer="/name",
        )
    return request.model_copy(update={"name": name})


def require_no_tier(tiers: Iterable[Tier], name: str) -> None:
    """Raise ``InvalidInput`` for a name that only an analyst's query may have."""
    for tier in tiers:
        suffix = MARK + tier.name
        if folded(name).endswith(folded(suffix)):
            raise InvalidInput(
                f"Names that end with {suffix!r} are those of queries that analysts of this tier"
                " register under an allowance; choose another name.",
                pointer="/name",
            )


def plain(session: Session, query: Query) -> str:
    """Return a query's name without the tier of its maker."""
    floor = floor_of(session, query)
    return query.name if floor is None else query.name[: -len(MARK + floor.name)]


def shown_name(session: Session, query: Query, limit: Tier | None) -> str:
    """Return the name under which a reader finds a query: the shorter one if that is unambiguous.

    Tiers above ``limit`` are out of their sight; ``None`` hides none.
    """
    if query.allowance_id is None:
        return query.name
    short = plain(session, query)
    others = select(Query.id).where(_answering(short), col(Query.id) != query.id, *_sight(limit))
    return short if session.exec(others).first() is None else query.name


def answering(session: Session, name: str, limit: Tier | None) -> Query | None:
    """Return the query that a short name stands for in a reader's sight, or ``None``.

    One of several is that of the reader's own tier.
    """
    rows = session.exec(select(Query).where(_answering(name), *_sight(limit))).all()
    exact = [row for row in rows if row.folded == folded(name)]
    ours = [row for row in rows if folded(plain(session, row)) == folded(name)]
    if not exact and len(ours) > 1 and limit is not None:
        ours = [row for row in ours if row.folded == folded(name + MARK + limit.name)]
    chosen = exact or ours
    return chosen[0] if len(chosen) == 1 else None


def query_named(session: Session, name: str) -> Query:
    """Return a query by its name, also by its short one, no matter who may see it.

    Raises ``NotFound``.
    """
    query = answering(session, name, None)
    if query is None or is_stream(query):
        raise NotFound(f"There is no query {name!r}.")
    return query


def full_name(session: Session, name: str, limit: Tier | None) -> str | None:
    """Return the whole name of the query that a short one stands for; ``None`` for any other."""
    query = answering(session, name, limit)
    return None if query is None or query.folded == folded(name) else query.name


def require_name_in_sight_free(session: Session, name: str, tier: Tier) -> None:
    """Raise ``NameTaken`` if a query that ``tier`` sees answers to an analyst's new name."""
    short = name[: -len(MARK + tier.name)]
    sight = or_(in_sight(tier), col(Query.folded) == folded(name))
    for row in session.exec(select(Query).where(_answering(short), sight)).all():
        if folded(short) in (row.folded, folded(plain(session, row))):
            raise name_taken(short)


def hash_at(canonical_hash: str, tier: Tier) -> str:
    """Return the hash of a statistic that an analyst of a tier registers: with the tier's number.

    ``repository.queries.statistic_of`` returns the hash of the statistic alone.
    """
    return f"{canonical_hash}{MARK}{required(tier.id)}"


def require_no_twin(session: Session, canonical_hash: str | None, lowest: Tier) -> None:
    """Raise ``Conflict`` if all who would see a statistic see it registered already.

    ``lowest`` is the least trusted tier that would see it, and ``canonical_hash`` that of the
    statistic alone.  A query that this tier does not see is never named, and never in the way.
    """
    if canonical_hash is None:
        return
    tiers = session.exec(select(Tier)).all()
    hashes = [canonical_hash, *(hash_at(canonical_hash, tier) for tier in tiers)]
    twin = session.exec(
        select(Query).where(col(Query.canonical_hash).in_(hashes), in_sight(lowest))
    ).first()
    if twin is not None:
        name = shown_name(session, twin, lowest)
        raise Conflict(
            f"This statistic is registered already, as query {name!r}; use that one: drawing it"
            " twice would cost its budget twice.",
            query=name,
        )


def _answering(name: str) -> ColumnElement[bool]:
    """Return the condition for queries that may answer to a short name: at each tier one."""
    names = select(literal(folded(name) + MARK, String) + col(Tier.folded))
    return or_(col(Query.folded) == folded(name), col(Query.folded).in_(names))


def _sight(limit: Tier | None) -> list[ColumnElement[bool]]:
    return [] if limit is None else [in_sight(limit)]
