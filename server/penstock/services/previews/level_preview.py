"""Preview changed levels of a query or a stream.

It follows the rules of changing them, from rows alone: nothing is charged, read or drawn.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from penstock.accounting.charging.ledger import total
from penstock.connectors.planning.refusals import within
from penstock.errors import BudgetExhausted
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import query_named, shown_name
from penstock.services.context import Server
from penstock.services.ledger import effective_levels
from penstock.services.ledger.accounts import require_room
from penstock.services.ledger.allowed_levels import newest
from penstock.services.ledger.effective_levels import Due
from penstock.services.ledger.room_left import charge_of, room_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.queries.level_changes import (
    allowed_then,
    listed_levels,
    require_active,
    target_rung,
)
from penstock.services.releases.visibility import levels_of
from penstock.services.repository.people import holding, ordered_tiers
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.previews import ChargeView, RoomView
from penstock.services.schemas.views import ErrorView, GuaranteeView, LevelView
from penstock.transparency_log import leaves


@dataclass(frozen=True)
class SeenLevelView:
    """Hold a level, its guarantee and its margin of error."""

    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView


@dataclass(frozen=True)
class MovedLevelView:
    """Hold the level that a tier sees before and after; null for none.

    ``people`` are the analysts who hold the tier.  ``charge`` is what its account is charged for
    the change, with the ``room`` for it; null if it is charged nothing.
    """

    tier: str
    people: list[str]
    before: SeenLevelView | None
    after: SeenLevelView | None
    charge: ChargeView | None
    room: RoomView | None

    @property
    def moves(self) -> bool:
        """Return True if the tier sees another level than before."""
        return self.before != self.after


@dataclass(frozen=True)
class MovedLevelsView:
    """Hold a preview of changed levels.

    ``reads``: the exact values are needed again, and must be sent again if they were ``pushed``.
    ``former`` are deleted tiers that are charged as well.  ``changes`` is false if all levels are
    so already.  ``basis`` identifies the state of the preview; it is compared, not read.
    """

    query: str
    dataset: str
    stream: bool
    lossless: bool
    tiers: list[MovedLevelView]
    former: list[str]
    reads: bool
    pushed: bool
    refusal: str | None
    changes: bool
    basis: str


def preview(
    server: Server,
    principal: Principal,
    name: str,
    levels: Mapping[str, LevelSpec],
    *,
    stream: bool = False,
) -> MovedLevelsView:
    """Preview moving ``levels``; nothing is done.

    Raises what moving them would, except for lack of budget, which the answer states, and for exact
    values, which are not read.
    """
    principal.require("admin")
    with server.database.read() as session:
        query = (stream_by_name if stream else query_named)(session, name)
        require_active(query)
        dataset = session.get_one(Dataset, query.dataset_id)
        rungs = _requested_rungs(session, dataset, query, levels)
        allowed = allowed_then(session, dataset, query, rungs)
        key = required(query.id)
        dues = effective_levels.due(session, dataset, [query], allowed={key: allowed})
        before = newest(session, [query])[key]
        return MovedLevelsView(
            query=shown_name(session, query, None),
            dataset=dataset.name,
            stream=stream,
            lossless=kind_of(query).lossless,
            tiers=_tiers(session, query, dataset, allowed, dues),
            former=[due.account.tier.name for due in dues if due.account.tier.deleted_at],
            reads=bool(kind_of(query).missing(session, query, list(rungs.values()))),
            pushed=query.sql is None,
            refusal=_refusal(session, dataset, dues),
            changes=any(before.get(tier) != rung for tier, rung in allowed.items()),
            basis=_basis(before, allowed, dues),
        )


def _requested_rungs(
    session: Session, dataset: Dataset, query: Query, levels: Mapping[str, LevelSpec]
) -> dict[int, int]:
    """Return the rungs that are requested, by tier."""
    kind = kind_of(query)
    rungs = {}
    for key, (spelled, spec) in listed_levels(session, dataset, levels).items():
        rungs[key] = target_rung(kind, spelled, spec, dataset.delta)
        with within("levels", spelled):
            kind.require_rung(rungs[key])
    kind.require_readable(query, min(rungs.values()))
    return rungs


def _tiers(
    session: Session,
    query: Query,
    dataset: Dataset,
    allowed: Mapping[int, int],
    dues: Sequence[Due],
) -> list[MovedLevelView]:
    levels = {required(tier.id): rung for tier, rung in levels_of(session, query, None)}
    people = _people(session)
    views = []
    for tier in ordered_tiers(session):
        key = required(tier.id)
        if key not in levels and key not in allowed:
            continue
        own = [due for due in dues if due.account.tier.id == key]
        cost = total(due.cost for due in own)
        views.append(
            MovedLevelView(
                tier=tier.name,
                people=people.get(key, []),
                before=_seen(session, query, dataset, levels.get(key)),
                after=_seen(session, query, dataset, allowed.get(key)),
                charge=charge_of(own[0].account, cost) if own else None,
                room=room_of(own[0].account, cost) if own else None,
            )
        )
    return views


def _seen(
    session: Session, query: Query, dataset: Dataset, rung: int | None
) -> SeenLevelView | None:
    if rung is None:
        return None
    kind = kind_of(query)
    return SeenLevelView(
        kind.level(rung),
        kind.guarantee(rung, dataset.delta),
        kind.current_error(session, query, rung),
    )


def _people(session: Session) -> dict[int, list[str]]:
    """Return the active analysts who hold each tier, by the tier's key."""
    clearances = holding(session)
    people: dict[int, list[str]] = {}
    active = select(User).where(col(User.analyst), col(User.disabled_at).is_(None))
    for user in session.exec(active.order_by(col(User.id))).all():
        tier = clearances.get(required(user.id))
        if tier is not None:
            people.setdefault(tier, []).append(user.name)
    return people


def _refusal(session: Session, dataset: Dataset, dues: Sequence[Due]) -> str | None:
    try:
        require_room(session, required(dataset.id), [(due.account, due.cost) for due in dues])
    except BudgetExhausted as problem:
        return problem.detail
    return None


def _basis(before: Mapping[int, int], allowed: Mapping[int, int], dues: Sequence[Due]) -> str:
    seen = {
        "before": sorted(before.items()),
        "after": sorted(allowed.items()),
        "due": sorted((required(due.account.tier.id), due.rung, due.cost.loss) for due in dues),
    }
    return hashlib.sha256(leaves.canonical(seen)).hexdigest()
