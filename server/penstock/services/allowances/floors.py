"""Keep a query that an analyst registered out of sight of everybody below their tier.

Which question somebody asks may tell what they had read.  So the tier at which a query was
registered is its *floor*: no tier below has a level of it, whatever happens to the ladder.  A
change of levels that would give one is refused, and so is a move of tiers.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlmodel import Session, col, select

from penstock.errors import Conflict
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Allowance
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.ledger.effective_levels import place


def floor_of(session: Session, query: Query) -> Tier | None:
    """Return the tier at which an analyst registered a query; ``None`` if an admin did."""
    if query.allowance_id is None:
        return None
    return session.get_one(Tier, session.get_one(Allowance, query.allowance_id).tier_id)


def below(floor: Tier, tiers: Sequence[Tier], keys: Iterable[int]) -> list[Tier]:
    """Return those of the ``tiers`` with these ``keys`` that are below a floor."""
    listed = set(keys)
    return [
        tier
        for tier in tiers
        if required(tier.id) in listed and tier.id != floor.id and place(tier) < place(floor)
    ]


def require_above_floor(
    session: Session, query: Query, tiers: Sequence[Tier], keys: Iterable[int]
) -> None:
    """Raise ``Conflict`` if a level would be given to a tier below the query's floor."""
    floor = floor_of(session, query)
    lower = [] if floor is None else below(floor, tiers, keys)
    if floor is not None and lower:
        names = " and ".join(repr(tier.name) for tier in lower)
        raise Conflict(
            f"An analyst of tier {floor.name!r} registered {query.readable!r} under an allowance."
            f" Which question they asked may tell what they had read, so it is never visible below"
            f" that tier: {names} can have no level of it. Register a query of your own for them.",
            tiers=[tier.name for tier in lower],
        )


def require_floors_kept(
    session: Session,
    queries: Iterable[Query],
    tiers: Sequence[Tier],
    allowed: Mapping[int, Iterable[int]],
) -> None:
    """Raise ``Conflict`` if after a move a tier below a floor would see its query, or its charge.

    ``allowed`` has the keys of the tiers that see each query.  A tier that was inserted above a
    deleted floor is charged without seeing it, and its budget has what it is charged.
    """
    for query in queries:
        floor = floor_of(session, query)
        if floor is None:
            continue
        charged = session.exec(select(Charge.tier_id).where(col(Charge.query_id) == query.id))
        lower = below(floor, tiers, {*allowed[required(query.id)], *charged.all()})
        if lower:
            raise Conflict(
                f"Tier {lower[0].name!r} would be below {floor.name!r}, whose analysts registered"
                f" {query.readable!r} under an allowance, and it sees or pays for it: which"
                " question somebody asks may tell what they had read, so no tier below theirs may"
                " see it."
                " Nothing was moved. Create a new tier in that place instead.",
                tier=lower[0].name,
            )
