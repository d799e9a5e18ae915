"""Name queries of analysts, and find equal ones, without telling of what is out of sight.

Names and statistics are unique on a server.  If a name were refused because a query above has it,
the refusal would tell that there is such a query, and which one; the same holds for a statistic.
So a query under an allowance is stored under its name with the tier behind it and the number of
this tier, ``visits@partner,2``.  No request has a comma in a name, and a tier that is created under
the name of a deleted one has another number, so only queries of the same tier can have this name;
all holders of the tier see them.  The hash is that of the statistic with the same number.  Readers
are shown the name without its tier, and may use it so, as long as they see no other query that
answers to it; then the name with the tier, and if that is not unique either, all of it.  The
names that analysts choose have no such mark, so that nobody below makes a name ambiguous above.
"""

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement, String, cast, literal, or_
from sqlmodel import Session, col, select

from penstock.errors import InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.allowances.floors import floor_of
from penstock.services.ledger.charges import name_taken, registered_already
from penstock.services.repository.queries import in_sight, is_stream
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.spec_fields import LONGEST_NAME, NUMBER_MARK, folded

MARK = "@"

RETIRED = "retired"

Request = TypeVar("Request", bound=ComputedQueryRequest)


def with_tier(request: Request, tier: Tier) -> Request:
    """Return a request whose name has the tier and its number behind it.

    Raises ``InvalidInput``.
    """
    suffix = _suffix(tier)
    name = _without_tier(request.name, tier) + suffix
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"With its tier and the number of this tier, {suffix!r}, the name has {len(name)}"
            f" characters, and a name has at most {LONGEST_NAME}; choose a shorter one.",
            pointer="/name",
        )
    return request.model_copy(update={"name": name})


def plain(session: Session, query: Query) -> str:
    """Return a query's name without the tier of its maker."""
    floor = floor_of(session, query)
    return query.name if floor is None else query.name.removesuffix(_suffix(floor))


def shown_name(session: Session, query: Query, limit: Tier | None) -> str:
    """Return the name under which a reader finds a query: the shortest one that is unambiguous.

    Tiers above ``limit`` are out of their sight; ``None`` hides none.
    """
    if query.allowance_id is None:
        return query.name
    for name in (plain(session, query), query.readable):
        others = select(Query.id).where(_answering(name), col(Query.id) != query.id, *_sight(limit))
        if session.exec(others).first() is None:
            return name
    return query.name


def all_answering(session: Session, name: str, limit: Tier | None) -> Sequence[Query]:
    """Return the queries and streams in a reader's sight that a name may stand for."""
    return session.exec(select(Query).where(_answering(name), *_sight(limit))).all()


def answering(session: Session, name: str, limit: Tier | None) -> Query | None:
    """Return the query that a short name stands for in a reader's sight, or ``None``.

    One of several is that of the reader's own tier.
    """
    return chosen_of(all_answering(session, name, limit), name, limit)


def chosen_of(rows: Sequence[Query], name: str, limit: Tier | None) -> Query | None:
    """Return which of the ``rows`` that answer to a name it stands for, or ``None``."""
    exact = [row for row in rows if row.folded == folded(name)]
    if not exact and len(rows) > 1 and limit is not None:
        own = f"{NUMBER_MARK}{required(limit.id)}"
        rows = [row for row in rows if row.folded.endswith(own)]
    among = exact or rows
    return among[0] if len(among) == 1 else None


def query_named(session: Session, name: str) -> Query:
    """Return a query by its name, also by its short one, no matter who may see it.

    Raises ``NotFound``.
    """
    query = answering(session, name, None)
    if query is None or is_stream(query):
        raise no_query(session, name, None)
    return query


def no_query(session: Session, name: str, limit: Tier | None) -> NotFound:
    """Return the error for a name that stands for no query in a reader's sight, or for several."""
    rows = [row for row in all_answering(session, name, limit) if not is_stream(row)]
    if len(rows) < 2:
        return NotFound(f"There is no query {name!r}.")
    names = sorted(shown_name(session, row, limit) for row in rows)
    return NotFound(
        f"Several queries have the name {name!r} at their tiers: {', '.join(names)}. Use one of"
        " these names."
    )


def full_name(session: Session, name: str, limit: Tier | None) -> str | None:
    """Return the whole name of the query that a short one stands for; ``None`` for any other."""
    query = answering(session, name, limit)
    return None if query is None or query.folded == folded(name) else query.name


def require_unused(session: Session, name: str) -> None:
    """Raise ``NameTaken`` if any query or stream answers to a name: for those who see all."""
    if all_answering(session, name, None):
        raise name_taken(name)


def require_name_in_sight_free(session: Session, name: str, tier: Tier) -> None:
    """Raise ``NameTaken`` if a query that ``tier`` sees answers to an analyst's new name."""
    short = name.removesuffix(_suffix(tier))
    answers = or_(_answering(short), _answering(short + MARK + tier.name))
    sight = or_(in_sight(tier), col(Query.folded) == folded(name))
    if session.exec(select(Query.id).where(answers, sight)).first() is not None:
        raise name_taken(short)


def require_no_mark(name: str, tier: Tier) -> None:
    """Raise ``InvalidInput`` if an analyst's new name has the mark that stands before tiers.

    So a query's name with its tier stays unambiguous to those above, whatever is named below.  Any
    name with the mark is refused: if only those of tiers were, it would tell which tiers exist.
    """
    if MARK in name.removesuffix(_suffix(tier)):
        raise InvalidInput(
            f"The name of a query of your own has no {MARK!r}, which stands before the tier of who"
            " registered it; choose a name without it.",
            pointer="/name",
        )


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
        raise registered_already(shown_name(session, twin, lowest), retired=twin.status == RETIRED)


def _suffix(tier: Tier) -> str:
    return f"{MARK}{tier.name}{NUMBER_MARK}{required(tier.id)}"


def _without_tier(name: str, tier: Tier) -> str:
    """Return a name without the tier, if somebody has put it behind it."""
    suffix = folded(MARK + tier.name)
    ends = (place for place, letter in enumerate(name) if letter == MARK)
    return next((name[:place] for place in ends if folded(name[place:]) == suffix), name)


def _answering(name: str) -> ColumnElement[bool]:
    """Return the condition for queries that may answer to a short name: at each tier one."""
    short, number = folded(name), cast(col(Tier.id), String)
    names = literal(short + MARK, String) + col(Tier.folded) + NUMBER_MARK + number
    with_its_tier = literal(short + NUMBER_MARK, String) + number
    return or_(
        col(Query.folded) == short,
        col(Query.folded).in_(select(names)),
        col(Query.folded).in_(select(with_its_tier)),
    )


def _sight(limit: Tier | None) -> list[ColumnElement[bool]]:
    return [] if limit is None else [in_sight(limit)]
