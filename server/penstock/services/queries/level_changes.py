"""Changing the levels of a query: lower for the future, or raise and pay for it.

Up to the ceiling it is one transaction and needs no data.  Above it there are two, as in
a registration: the first charges and commits; only then are the data read, and the second
stores the new anchor together with the levels that it allows.  A crash in between leaves
the charges and nothing else: the same change, asked again, is charged nothing more and
finishes it.  Where levels are independent draws, so is every one that was not drawn yet,
whether it is more accurate or not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.accounting import level_for
from penstock.connectors.planning.refusals import pointer, within
from penstock.errors import Conflict, IntegrityViolation, InvalidInput
from penstock.mechanisms import IntVector, raise_anchor
from penstock.persistence import lock_query
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Query, Release, Tier
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.declarations import as_declared
from penstock.services.ledger.accounts import require_room
from penstock.services.ledger.allowed_levels import allow, newest, require_levels, risen
from penstock.services.ledger.effective_levels import Rungs, due, recharge
from penstock.services.ledger.tier_budgets import newest_budget
from penstock.services.noise.independent_levels import drawn_at, undrawn
from penstock.services.noise.process import Process, on_node
from penstock.services.noise.sealed_state import open_state
from penstock.services.queries.exact_answers import (
    Answer,
    on_lattice,
    prepared_again,
    require_fingerprint,
    require_same,
)
from penstock.services.queries.mismatches import compared, require_drawn_from
from penstock.services.releases.releases import store
from penstock.services.repository import ordered_tiers, query_by_name
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.queries import LevelsChange
from penstock.spec_fields import folded


def change(server: Server, principal: Principal, name: str, wanted: LevelsChange) -> str:
    """Move levels of a query; the query's name.

    Raises ``NotFound``, ``Conflict`` for a query that is not active and for exact values
    that are not those registered, ``SourceChanged``, ``BudgetExhausted``,
    ``LevelsUsedUp``, and ``InvalidInput`` for levels that cannot be meant and for exact
    values that nothing is drawn from.
    """
    principal.require("admin")
    with server.database.read() as session:
        query = query_by_name(session, name)
        require_active(query)
        dataset = as_declared(session, session.get_one(Dataset, query.dataset_id), query)
        targets = listed_levels(session, dataset, wanted.levels)
    process = Process.of(query)
    rungs = {key: asked_rung(process, *one, dataset.delta) for key, one in targets.items()}
    with server.database.read() as session:
        reads = bool(undrawn(session, query, list(rungs.values())))
    require_ceiling_of_histogram(query, process, rungs)
    answer = _answer(server, dataset, query, wanted.values, reads)
    pushed = None if wanted.values is None or answer is None else answer()
    mismatch: Conflict | None = None
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        missing = undrawn(session, current, list(rungs.values()))
        if pushed is not None:
            require_drawn_from(current, bool(missing))
            require_chargeable(session, dataset, current, rungs)
            mismatch = compared(session, server, principal, dataset, current, pushed, now)
        if mismatch is None:
            allowed = charge_levels(session, dataset, current, rungs, now)
            if not missing:
                allow(session, principal, dataset, current, allowed, now)
                return query.name
            _record_draw(session, principal, dataset, current, missing, now)
    if mismatch is not None:
        raise mismatch
    if answer is None:
        raise Conflict(f"The levels of {query.name!r} changed meanwhile; ask again.")
    exact = answer()
    require_same(server, dataset, query, exact)
    if process.lossless:
        _raise_ceiling(server, principal, dataset, query, rungs, exact)
    else:
        _draw_more(server, principal, dataset, query, rungs, missing, exact)
    return query.name


def require_ceiling_of_histogram(query: Query, process: Process, rungs: Rungs) -> None:
    """Raise ``InvalidInput`` for a level that only another reading of the data could give."""
    finest = min(rungs.values())
    if query.histogram is not None and finest < query.ceiling:
        raise InvalidInput(
            f"The most accurate level of the sparse histogram {query.name!r} is"
            f" {process.level(query.ceiling).value:g} ({process.mechanism.parameter}), and stays"
            f" it: {process.level(finest).value:g} would have to read the data again. Ask for"
            " that or more noise, or register another histogram.",
            pointer="/levels",
        )


def _record_draw(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    missing: Sequence[int],
    at: datetime,
) -> None:
    """Append the leaf that says which levels are about to be drawn from the data."""
    process = Process.of(query)
    seen = [asdict(process.level(rung)) for rung in missing]
    drawn = {"ceiling": seen[0]} if process.lossless else {"levels": seen}
    record(session, principal, "query", at, dataset=dataset, query=query, **drawn)


def _answer(
    server: Server,
    dataset: Dataset,
    query: Query,
    values: list[int | float] | None,
    reads: bool,
) -> Answer | None:
    """How to read the exact answer, in steps of the lattice; ``None`` where nothing is read.

    A file is known by its own fingerprint before the charge, and read after it.  Values that
    were sent are held to what was declared of them, and compared with nothing yet.
    """
    if not reads and values is None:
        return None
    process = Process.of(query)
    prepared, answer = prepared_again(server, dataset, query, values)
    if values is not None:
        require_drawn_from(query, reads)
    require_fingerprint(query)
    return lambda: on_lattice(process, prepared.step, answer)


def require_active(query: Query) -> None:
    """Raise ``Conflict`` unless levels of the query may change."""
    if query.status == "pending":
        raise Conflict(
            f"The registration of {query.name!r} was interrupted; register the same spec again"
            " to finish it, and then change its levels."
        )
    if query.status != "active":
        raise Conflict(f"Query {query.name!r} is {query.status}; its levels stay as they are.")


def locked_active(session: Session, query: Query) -> Query:
    """The query as it is now, locked.  Raises as ``require_active`` does."""
    current = lock_query(session, required(query.id))
    if current is None:
        raise RuntimeError("a query is never taken away")
    require_active(current)
    return current


def listed_levels(
    session: Session, dataset: Dataset, levels: Mapping[str, LevelSpec]
) -> dict[int, tuple[str, LevelSpec]]:
    """By the key of the tier, the name that it was listed by and its level."""
    tiers = {tier.folded: tier for tier in ordered_tiers(session)}
    found: dict[int, tuple[str, LevelSpec]] = {}
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
        found[required(tier.id)] = (name, spec)
    return found


def asked_rung(process: Process, name: str, spec: LevelSpec, delta: float) -> int:
    """The rung that ``spec`` asks for the tier ``name``.  Raises ``InvalidInput``."""
    with within("levels", name):
        rung = process.rung(spec.target(), delta)
        if rung == 0:
            # Everything more accurate than the ladder ends at its first rung.
            finest = process.ladder.value(0)
            target = on_node(spec.target(), process.nodes)
            wanted = level_for(process.mechanism, target, process.sensitivity, delta)
            if float(wanted) < float(finest) * (1 - 1e-9):
                raise InvalidInput(
                    f"The level, {float(wanted):g}, is more accurate than the most accurate that"
                    f" this query offers, {float(finest):g} ({process.mechanism.parameter});"
                    " ask for that, or register another query."
                )
        return rung


def charge_levels(
    session: Session, dataset: Dataset, query: Query, rungs: Rungs, at: datetime
) -> dict[int, int]:
    """Charge every tier for ``rungs``; what all tiers are to be allowed from then on."""
    allowed = allowed_then(session, dataset, query, rungs)
    recharge(session, dataset, [query], at, allowed={required(query.id): allowed})
    return allowed


def require_chargeable(session: Session, dataset: Dataset, query: Query, rungs: Rungs) -> None:
    """Raise whatever ``charge_levels`` would raise; nothing is charged."""
    allowed = {required(query.id): allowed_then(session, dataset, query, rungs)}
    dues = due(session, dataset, [query], allowed=allowed)
    require_room(session, required(dataset.id), [(one.account, one.cost) for one in dues])


def allowed_then(session: Session, dataset: Dataset, query: Query, rungs: Rungs) -> dict[int, int]:
    """What all tiers would be allowed, were ``rungs`` given to some of them.

    Raises ``Conflict``, ``InvalidInput`` and ``LevelsUsedUp`` as ``change`` does.
    """
    key = required(query.id)
    own = {**newest(session, [query])[key], **rungs}
    tiers = ordered_tiers(session)
    if not rungs.keys() <= {required(tier.id) for tier in tiers}:
        raise Conflict("The tiers changed meanwhile; ask again.")
    _require_rising(Process.of(query), tiers, own, rungs)
    funded = [tier for tier in tiers if newest_budget(session, dataset, tier) is not None]
    allowed = risen(funded, own)
    require_levels(session, query, allowed)
    return allowed


def _require_rising(
    process: Process, tiers: Sequence[Tier], own: Rungs, listed: Mapping[int, int]
) -> None:
    """Raise ``InvalidInput`` where a tier would be noisier than one below it.

    ``own`` has the levels of all ``tiers``, ``listed`` those that are being changed.
    """
    seen = [tier for tier in tiers if required(tier.id) in own]
    for place, lower in enumerate(seen[:-1]):
        rung = own[required(lower.id)]
        noisier = [tier for tier in seen[place + 1 :] if own[required(tier.id)] > rung]
        if not noisier:
            continue
        first = noisier[0]
        kept = [tier for tier in noisier if required(tier.id) not in listed]
        level, other = (process.level(own[required(tier.id)]).value for tier in (lower, first))
        if kept:
            names = " and ".join(repr(tier.name) for tier in kept)
            step = f"List {names} as well, at {level:g} or below"
        elif required(lower.id) not in listed:
            step = f"Ask for {level:g} or below, or list {lower.name!r} as well"
        else:
            step = f"Ask for {level:g} or below for {first.name!r}"
        raise InvalidInput(
            f"The level of {first.name!r}, {other:g} ({process.mechanism.parameter}), would be"
            f" noisier than that of the less trusted {lower.name!r}, {level:g}; levels must not"
            f" get noisier as rank rises. {step}.",
            pointer="/levels",
        )


def _raise_ceiling(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Rungs,
    exact: IntVector,
) -> None:
    """Draw the new anchor beside the old one, and store it with what it allows."""
    process, finest = Process.of(query), min(rungs.values())
    with server.database.read() as session:
        anchor = _anchor(session, query)
        steps = open_state(server, dataset, query, anchor)
    drawn = None
    if finest < anchor.rung:
        noisy = (process.ladder.value(anchor.rung), steps)
        level = process.ladder.value(finest)
        drawn = raise_anchor(process.mechanism, exact, noisy, level, server.randomness())
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        if current.ceiling > finest:
            beside = _anchor(session, current)
            if drawn is None or beside.id != anchor.id:
                raise Conflict(f"The ceiling of {query.name!r} changed meanwhile; ask again.")
            current.ceiling = finest
            store(session, server, dataset, current, finest, drawn, None, beside)
        allowed = charge_levels(session, dataset, current, rungs, now)
        allow(session, principal, dataset, current, allowed, now)


def _draw_more(
    server: Server,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Rungs,
    missing: Sequence[int],
    exact: IntVector,
) -> None:
    """Draw independent levels that were charged, and store them with what they allow."""
    drawn = drawn_at(server, Process.of(query), missing, exact)
    with server.database.write() as session:
        current = locked_active(session, query)
        now = server.clock()
        # Whoever asked for the same meanwhile has drawn it, and nobody saw this one.
        still = undrawn(session, current, missing)
        for rung, steps in drawn:
            if rung in still:
                current.ceiling = min(current.ceiling, rung)
                store(session, server, dataset, current, rung, steps, None, None)
        allowed = charge_levels(session, dataset, current, rungs, now)
        allow(session, principal, dataset, current, allowed, now)


def _anchor(session: Session, query: Query) -> Release:
    """The most accurate release."""
    release = session.exec(
        select(Release)
        .where(col(Release.query_id) == query.id)
        .order_by(col(Release.rung))
        .limit(1)
    ).first()
    if release is None:
        raise IntegrityViolation(
            f"Query {query.name!r} has no release as accurate as its anchor; nothing is drawn."
            " Restore the database from a backup."
        )
    return release
