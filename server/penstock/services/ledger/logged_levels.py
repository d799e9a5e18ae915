"""Write the leaves of the levels that tiers are allowed, and compare the tables with them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.services.access.admin_actions import Exposure, leaf_of
from penstock.services.access.principals import Principal
from penstock.services.noise.kinds.choice import kind_of
from penstock.transparency_log.leaves import AppendedLeaf
from penstock.transparency_log.logged_subject import LeafFields, ascending, name_of, versions
from penstock.transparency_log.sights import Sight


def level_leaves(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Mapping[int, int],
    names: Mapping[int, str],
    at: datetime,
    exposure: Exposure,
) -> list[AppendedLeaf]:
    """Make the leaves of levels that tiers, by their keys, are allowed from now on.

    ``names`` are those of the tiers.
    """
    kind = kind_of(query)
    return [
        leaf_of(
            session,
            principal,
            "level",
            at,
            exposure,
            dataset=dataset,
            query=query,
            tier=names[key],
            level={"parameter": level.parameter, "value": level.value},
        )
        for key, level in ((key, kind.level(rung)) for key, rung in rungs.items())
    ]


class LoggedLevels:
    """Hold the levels that the log has, by query and tier; each must have been charged."""

    def __init__(self) -> None:
        self._levels = versions()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a level."""
        if leaf["kind"] == "level":
            self._levels[leaf["query"], leaf["tier"]].append(leaf["level"])

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where levels differ, or where one was not charged."""
        tiers = {tier.id: tier for tier in session.exec(select(Tier)).all()}
        queries = {query.id: query for query in session.exec(select(Query)).all()}
        rows = session.exec(select(QueryLevel).order_by(col(QueryLevel.id))).all()
        stored = versions()
        charged: dict[tuple[int, int], set[int]] = defaultdict(set)
        for charge in session.exec(select(Charge)).all():
            charged[charge.query_id, charge.tier_id].add(charge.rung)
        for row in rows:
            query, tier = queries.get(row.query_id), name_of(tiers.get(row.tier_id))
            kind = kind_of(query) if query else None
            stored[name_of(query), tier].append(asdict(kind.level(row.rung)) if kind else None)
            rungs = charged[row.query_id, row.tier_id]
            if not (kind is not None and kind.levels.covers(rungs, row.rung)):
                yield f"a level of {name_of(query)!r} for {tier!r} was not charged"
        numbered = [((row.query_id, row.tier_id), row.version) for row in rows]
        if stored != self._levels or not ascending(numbered):
            yield "the levels are not those of the log"
