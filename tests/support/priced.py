"""Define what a ledger should say: every query priced from nothing, under the accounts as they are.

Nothing here asks the server what a query costs or what a larger budget changes.
"""

import json
from collections.abc import Mapping, Sequence

from sqlmodel import Session, col, select

from penstock.accounting import Account, Entry, account_of, charge, entry, raising, total
from penstock.persistence.tables import Charge, Query, TierBudget
from penstock.services.noise.kinds.choice import kind_of
from penstock.structures.streams.buffered.encoder import encoder

Place = tuple[int, int]
"""The keys of a tier and a query."""


def ledger(session: Session, dataset_id: int) -> dict[Place, Entry]:
    """Return what each tier was charged for each query of a dataset, put together."""
    found: dict[Place, list[Entry]] = {}
    for row in _charges(session, dataset_id):
        found.setdefault((row.tier_id, row.query_id), []).append(Entry(row.loss, row.failure))
    return {place: total(costs) for place, costs in found.items()}


def from_nothing(
    session: Session, dataset_id: int, highest: Mapping[int, float] | None = None
) -> dict[Place, Entry]:
    """Return what a tier should be charged for the levels that it came to see in turn.

    ``highest`` has, by tier, the largest budget that its account ever had; that of its own
    versions where it is left out.
    """
    versions = session.exec(
        select(TierBudget)
        .where(col(TierBudget.dataset_id) == dataset_id)
        .order_by(col(TierBudget.version))
    ).all()
    most: dict[int, float] = {}
    accounts: dict[int, Account] = {}
    for row in versions:
        most[row.tier_id] = max(row.epsilon, most.get(row.tier_id, 0.0))
        ever = (highest or most)[row.tier_id]
        accounts[row.tier_id] = account_of(ever, row.delta, row.order)
    seen: dict[Place, list[int]] = {}
    for charged in _charges(session, dataset_id):
        rungs = seen.setdefault((charged.tier_id, charged.query_id), [])
        if charged.rung not in rungs:
            rungs.append(charged.rung)
    return {
        (tier, query): priced(session.get_one(Query, query), accounts[tier], rungs)
        for (tier, query), rungs in seen.items()
    }


def priced(query: Query, account: Account, rungs: Sequence[int]) -> Entry:
    """Return the price of ``rungs``; later ones refine earlier ones unless they are draws."""
    process = kind_of(query)
    lossless = query.mechanism != "generalized_gaussian"
    sum_, before = Entry(0, 0), None
    for rung in rungs:
        level = process.ladder.value(rung)
        if before is None or not lossless:
            cost = charge(
                process.mechanism,
                process.ladder,
                level,
                process.sensitivity,
                account,
                _draws(query),
                query.max_levels,
            )
            sum_ += entry(cost)
        else:
            sum_ += raising(
                process.mechanism,
                process.ladder,
                charged=sum_,
                old=before,
                new=level,
                sensitivity=process.sensitivity,
                account=account,
                dimension=_draws(query),
                level_count=query.max_levels,
            )
        before = level
    return sum_


def _draws(query: Query) -> int:
    """Return how many draws one level takes of what one unit contributes to."""
    structure = json.loads(query.structure or "{}")
    if structure.get("kind") != "buffered":
        return query.dimension
    matrix = encoder(structure["length"])
    # A draw in each step, and two normals for each buffer and the total where a tier joins.
    return query.dimension * (matrix.length + 2 * len(matrix.exponents) + 2)


def _charges(session: Session, dataset_id: int) -> list[Charge]:
    return list(
        session.exec(
            select(Charge).where(col(Charge.dataset_id) == dataset_id).order_by(col(Charge.seq))
        ).all()
    )
