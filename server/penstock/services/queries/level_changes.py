"""Change the levels of a query: lower them for the future, or raise and charge them.

Up to the ceiling it is one transaction and needs no data.  Above it there are two, as in a
registration: the first charges and commits; only then are the data read, and the second stores the
new anchor together with the levels that it allows.  A crash in between leaves only the charges:
repeating the same change is charged nothing more and finishes it.  If levels are independent draws,
this holds for every level that was not drawn yet, whether it is more accurate or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlmodel import Session

from penstock.accounting.calibration.levels import level_for
from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning.refusals import pointer, within
from penstock.errors import Conflict, InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.persistence.locks import lock_query
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.allowances.floors import require_above_floor
from penstock.services.allowances.own_names import query_named
from penstock.services.context import Server
from penstock.services.datasets.declarations import as_declared
from penstock.services.ledger.accounts import require_room
from penstock.services.ledger.allowed_levels import allow, newest, require_levels, risen
from penstock.services.ledger.effective_levels import Rungs, due, recharge
from penstock.services.ledger.tier_budgets import newest_budget
from penstock.services.noise.answer_fingerprints import require_fingerprint
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.long_vectors.long_vector import Steps, keep_all
from penstock.services.queries.exact_answers import Answer, prepared_again, states_with
from penstock.services.queries.mismatches import (
    compared,
    require_comparable,
    require_drawn_from,
)
from penstock.services.releases.releases import store
from penstock.services.repository.people import ordered_tiers
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.queries import LevelsChange
from penstock.spec_fields import folded


def change(server: Server, principal: Principal, name: str, request: LevelsChange) -> Query:
    """Move the levels of a query; return its row.

    Raises ``NotFound``, ``Conflict`` for a query that is not active and for exact values other than
    those registered, ``SourceChanged``, ``BudgetExhausted``, ``LevelsUsedUp``, and ``InvalidInput``
    for invalid levels and for exact values that are not needed.
    """
    principal.require("admin")
    with server.database.read() as session:
        query = query_named(session, name)
        require_active(query)
        dataset = as_declared(session, session.get_one(Dataset, query.dataset_id), query)
        targets = listed_levels(session, dataset, request.levels)
    kind = kind_of(query)
    rungs = {key: target_rung(kind, *target, dataset.delta) for key, target in targets.items()}
    with server.database.read() as session:
        reads = bool(kind.missing(session, query, list(rungs.values())))
    kind.require_readable(query, min(rungs.values()))
    answer = _answer(server, dataset, query, request.values, reads)
    pushed = None if request.values is None or answer is None else answer().steps
    mismatch: Conflict | None = None
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        missing = kind_of(current).missing(session, current, list(rungs.values()))
        if pushed is not None:
            require_drawn_from(current, bool(missing))
            require_chargeable(session, dataset, current, rungs)
            mismatch = compared(session, server, principal, dataset, current, pushed, now)
        elif missing:
            require_comparable(current)
        if mismatch is None:
            allowed = charge_levels(session, dataset, current, rungs, now)
            if not missing:
                allow(session, principal, dataset, current, allowed, now)
                return query
            _record_draw(session, principal, dataset, current, missing, now)
    if mismatch is not None:
        raise mismatch
    if answer is None:
        raise Conflict(f"The levels of {query.readable!r} changed in the meantime; try again.")
    exact, state = answer()
    if pushed is None:
        _require_same(server, principal, dataset, query, exact)
    _draw_again(server, principal, dataset, query, rungs, missing, exact, state)
    return query


def _require_same(
    server: Server, principal: Principal, dataset: Dataset, query: Query, exact: IntVector
) -> None:
    """Raise ``Conflict`` unless what was read is the answer that the anchor was drawn from."""
    with server.database.write() as session:
        current, now = locked_active(session, query), server.clock()
        mismatch = compared(session, server, principal, dataset, current, exact, now)
    if mismatch is not None:
        raise mismatch


def _record_draw(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    missing: Sequence[int],
    at: datetime,
) -> None:
    """Append the leaf that announces which levels will be drawn from the data."""
    kind = kind_of(query)
    seen = [asdict(kind.level(rung)) for rung in missing]
    drawn = kind.levels.leaf_of_draw(seen)
    record(session, principal, "query", at, dataset=dataset, query=query, **drawn)


def _answer(
    server: Server,
    dataset: Dataset,
    query: Query,
    values: list[int | float] | None,
    reads: bool,
) -> Answer | None:
    """Return a function that reads the exact answer, in lattice steps; ``None`` if none is needed.

    A file is checked by its fingerprint before the charge, and read after it.  Values that were
    sent are checked against their declaration, and not compared with the anchor's yet.
    """
    if not reads and values is None:
        return None
    kind = kind_of(query)
    prepared, answer = prepared_again(server, dataset, query, values)
    if values is not None:
        require_drawn_from(query, reads)
    require_fingerprint(query)

    def read() -> ExactAnswer:
        steps, state = answer()
        return ExactAnswer(kind.exact(prepared.step, steps), state)

    return read


def require_active(query: Query) -> None:
    """Raise ``Conflict`` unless levels of the query may change."""
    if query.status == "pending":
        raise Conflict(
            f"The registration of {query.readable!r} was interrupted; register the same spec again"
            " to finish it, and then change its levels."
        )
    if query.status != "active":
        raise Conflict(f"Query {query.readable!r} is {query.status}; its levels cannot change.")


def locked_active(session: Session, query: Query) -> Query:
    """Return the query as it is now, locked.  Raises as ``require_active`` does."""
    current = lock_query(session, required(query.id))
    if current is None:
        raise RuntimeError("a query is never deleted")
    require_active(current)
    return current


def listed_levels(
    session: Session, dataset: Dataset, levels: Mapping[str, LevelSpec]
) -> dict[int, tuple[str, LevelSpec]]:
    """Return by tier key the spelling and the level of each listed tier."""
    tiers = {tier.folded: tier for tier in ordered_tiers(session)}
    levels_by_tier: dict[int, tuple[str, LevelSpec]] = {}
    for name, spec in levels.items():
        tier = tiers.get(folded(name))
        if tier is None:
            raise InvalidInput(
                f"There is no tier {name!r}; create it first, or leave its level out.",
                pointer=pointer("levels", name),
            )
        if newest_budget(session, dataset, tier) is None:
            raise InvalidInput(
                f"Tier {tier.name!r} has no budget in this dataset; leave its level out,"
                " or give it a budget.",
                pointer=pointer("levels", name),
            )
        levels_by_tier[required(tier.id)] = (name, spec)
    return levels_by_tier


def target_rung(kind: QueryKind, name: str, spec: LevelSpec, delta: float) -> int:
    """Return the rung that ``spec`` requests for tier ``name``.  Raises ``InvalidInput``."""
    with within("levels", name):
        rung = kind.rung(spec.target(), delta)
        if rung == 0:
            # Everything more accurate than the ladder ends at its first rung.
            finest = kind.ladder.value(0)
            target = kind.target_on_draws(spec.target())
            at = kind.delta_of_epsilons(delta)
            level = level_for(kind.mechanism, target, kind.sensitivity, at)
            if float(level) < float(finest) * (1 - 1e-9):
                raise InvalidInput(
                    f"The level, {float(level):g}, is more accurate than the most accurate level"
                    f" of this query, {float(finest):g} ({kind.mechanism.parameter}). Request that"
                    " level, or register another query."
                )
        return rung


def charge_levels(
    session: Session, dataset: Dataset, query: Query, rungs: Rungs, at: datetime
) -> dict[int, int]:
    """Charge every tier for ``rungs``; return what all tiers will be allowed."""
    allowed = allowed_then(session, dataset, query, rungs)
    recharge(session, dataset, [query], at, allowed={required(query.id): allowed})
    return allowed


def require_chargeable(session: Session, dataset: Dataset, query: Query, rungs: Rungs) -> None:
    """Raise what ``charge_levels`` would raise; nothing is charged."""
    allowed = {required(query.id): allowed_then(session, dataset, query, rungs)}
    dues = due(session, dataset, [query], allowed=allowed)
    require_room(
        session,
        required(dataset.id),
        [(due_charge.account, due_charge.cost) for due_charge in dues],
    )


def allowed_then(session: Session, dataset: Dataset, query: Query, rungs: Rungs) -> dict[int, int]:
    """Return the rung that each tier would be allowed if some were given ``rungs``.

    Raises ``Conflict``, ``InvalidInput`` and ``LevelsUsedUp`` as ``change`` does.
    """
    key = required(query.id)
    own = {**newest(session, [query])[key], **rungs}
    tiers = ordered_tiers(session)
    if not rungs.keys() <= {required(tier.id) for tier in tiers}:
        raise Conflict("The tiers changed in the meantime; try again.")
    require_above_floor(session, query, tiers, rungs)
    _require_rising(kind_of(query), tiers, own, rungs)
    funded = [tier for tier in tiers if newest_budget(session, dataset, tier) is not None]
    allowed = risen(funded, own)
    require_levels(session, query, allowed)
    return allowed


def _require_rising(
    kind: QueryKind, tiers: Sequence[Tier], own: Rungs, listed: Mapping[int, int]
) -> None:
    """Raise ``InvalidInput`` if a tier would be noisier than one below it.

    ``own`` has the levels of all ``tiers``, ``listed`` those that change.
    """
    seen = [tier for tier in tiers if required(tier.id) in own]
    for place, lower in enumerate(seen[:-1]):
        rung = own[required(lower.id)]
        noisier = [tier for tier in seen[place + 1 :] if own[required(tier.id)] > rung]
        if not noisier:
            continue
        first = noisier[0]
        kept = [tier for tier in noisier if required(tier.id) not in listed]
        level, other = (kind.level(own[required(tier.id)]).value for tier in (lower, first))
        if kept:
            names = " and ".join(repr(tier.name) for tier in kept)
            step = f"List {names} as well, at {level:g} or below"
        elif required(lower.id) not in listed:
            step = f"Ask for {level:g} or below, or list {lower.name!r} as well"
        else:
            step = f"Ask for {level:g} or below for {first.name!r}"
        raise InvalidInput(
            f"The level of {first.name!r}, {other:g} ({kind.mechanism.parameter}), would be"
            f" noisier than that of the less trusted {lower.name!r}, {level:g}; levels must not"
            f" get noisier as rank rises. {step}.",
            pointer="/levels",
        )


def _draw_again(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Rungs,
    missing: Sequence[int],
    exact: IntVector,
    state: str | None,
) -> None:
    """Draw the levels that were charged, and store them with the new allowed levels.

    ``state`` is the engine's name of the state of the rows that ``exact`` was read from.
    """
    levels = kind_of(query).levels
    stored: list[tuple[int, Steps]] = []
    with server.drawing():
        drawn = levels.draw_again(server, dataset, query, list(rungs.values()), missing, exact)
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        for rung, steps, beside in drawn(session, current):
            current.ceiling = min(current.ceiling, rung)
            store(session, server, dataset, current, rung, steps, None, beside)
            stored.append((rung, steps))
        if stored:
            current.read_states = states_with(current, state)
        allowed = charge_levels(session, dataset, current, rungs, now)
        allow(session, principal, dataset, current, allowed, now)
    keep_all(stored)
