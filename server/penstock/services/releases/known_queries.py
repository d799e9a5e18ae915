"""Read what a query's releases rest on once for each edition of the database.

A query, its dataset, its levels and the tiers change seldom, and the database has a new edition
whenever they do (``services.kept``).  What changes with requests is read each time: the caller's
clearance and holdings (``lookups``), and under the query's lock its ``seq`` and releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.statements.entities import made
from penstock.persistence.statements.fixed_rows import FixedRow
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.repository.people import ordered_tiers
from penstock.services.repository.queries import query_by_name
from penstock.spec_fields import folded

LONGEST_KEYS = 1 << 20
"""The longest text of keys that is kept, in characters; that of a longer one is read each time."""


@dataclass(frozen=True)
class KnownQuery:
    """Hold a query with everything that decides which of its levels somebody may be given.

    ``tiers`` are those that are not deleted, the least trusted first; ``newest`` maps the key of a
    tier to its present rung, and ``given`` has every rung that any tier was ever given.  The rows
    belong to no session: they are never changed, and what they refer to is not loaded.
    """

    query: Query
    dataset: Dataset
    kind: QueryKind
    tiers: tuple[Tier, ...]
    newest: Mapping[int, int]
    given: frozenset[int]

    @cached_property
    def signed(self) -> FixedRow:
        """Return the query's row for its HMACs: nothing but ``seq`` changes with a release."""
        return FixedRow("query", vars(self.query), "seq")

    def tier(self, key: int | None) -> Tier | None:
        """Return the tier with this key, or None if there is none or it is deleted."""
        return next((tier for tier in self.tiers if tier.id == key), None)

    def tier_named(self, name: str) -> Tier:
        """Return the tier called ``name``.  Raises ``NotFound``."""
        tier = next((tier for tier in self.tiers if tier.folded == folded(name)), None)
        if tier is None:
            raise NotFound(f"There is no tier {name!r}.")
        return tier

    def allowed_rung(self, limit: Tier) -> int | None:
        """Return the most accurate rung that a holder of ``limit`` may be given now."""
        return self._by_rank.get(limit.rank, (None, []))[0]

    def levels(self, limit: Tier) -> list[tuple[Tier, int]]:
        """Return the tiers up to ``limit`` that see the query, and the rung that each may have."""
        return self._by_rank.get(limit.rank, (None, []))[1]

    @cached_property
    def _by_rank(self) -> dict[int, tuple[int | None, list[tuple[Tier, int]]]]:
        """Return what ``allowed_rung`` and ``levels`` do, by the rank of each tier.

        Every request asks, and nothing in it changes.
        """
        by_rank: dict[int, tuple[int | None, list[tuple[Tier, int]]]] = {}
        finest: int | None = None
        levels: list[tuple[Tier, int]] = []
        for tier in self.tiers:
            own = self.newest.get(required(tier.id))
            if own is not None:
                finest = own if finest is None else min(finest, own)
            if finest is not None:
                levels = [*levels, (tier, finest)]
            by_rank[tier.rank] = finest, levels
        return by_rank


def with_seq(query: Query, seq: int) -> Query:
    """Return a query's row with another ``seq``; it belongs to no session."""
    if query.seq == seq:
        return query
    known = vars(query)
    return made(Query, {**{name: known[name] for name in Query.model_fields}, "seq": seq})


def kept(server: Server, edition: str, name: str) -> KnownQuery | None:
    """Return what is kept of a query under ``edition``; None if nothing is."""
    known: KnownQuery | None = server.kept.get(edition, folded(name))
    return known


def read(session: Session, server: Server, edition: str, name: str, *, keep: bool) -> KnownQuery:
    """Return a query as ``edition`` has it, which the transaction sees.  Raises ``NotFound``.

    With ``keep``, it is kept: only from a transaction that sees one state of the database.
    """
    known = kept(server, edition, name)
    if known is not None:
        return known
    query = query_by_name(session, name)
    levels = session.exec(
        select(QueryLevel)
        .where(col(QueryLevel.query_id) == query.id)
        .order_by(col(QueryLevel.version))
    ).all()
    tiers = tuple(ordered_tiers(session))
    present = {required(tier.id) for tier in tiers}
    result = KnownQuery(
        query=query,
        dataset=session.get_one(Dataset, query.dataset_id),
        kind=kind_of(query),
        tiers=tiers,
        newest={level.tier_id: level.rung for level in levels if level.tier_id in present},
        given=frozenset(level.rung for level in levels),
    )
    # Only what is final: a query that is not active soon becomes so, or has few requests.
    if keep and query.status == "active" and len(query.keys or "") <= LONGEST_KEYS:
        server.kept.keep(edition, folded(name), result)
    return result
