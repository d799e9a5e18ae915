"""Read a stream: the running totals that were drawn with its elements, at the reader's tier.

Nothing is drawn here, so a range never changes.  Each answer appends a leaf, and the first one at a
level makes its reader a holder of it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import partial

import numpy as np
from sqlmodel import Session, col, select

from penstock.errors import ClearanceTooLow, Conflict, IntegrityViolation, InvalidInput, NotFound
from penstock.mechanisms.process import IntVector
from penstock.persistence.locks import lock_query
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import StreamKind, state_row
from penstock.services.releases import quota
from penstock.services.releases.allowed import rung_of_tier
from penstock.services.releases.grants import grant, holding_at, leaf_fields
from penstock.services.repository.levels import allowed_rung
from penstock.services.repository.people import clearance_of, tier_by_name
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.estimates.covariance import TotalsCovarianceView
from penstock.services.schemas.streams import RunningTotalsView, Totals
from penstock.services.streams.fed_elements import days_of
from penstock.services.streams.sealed_stream import first_of, outputs_of
from penstock.transparency_log import leaves
from penstock.transparency_log.leaves import AppendedLeaf, receipt_of

MOST_NUMBERS = 10**7


@dataclass(frozen=True)
class _Ask:
    """Hold a range that the caller may read, its rung, and the tier of the answer."""

    query: Query
    dataset: Dataset
    tier: Tier
    release: Release
    span: range


def read(
    server: Server,
    principal: Principal,
    name: str,
    *,
    first: int | None = None,
    last: int | None = None,
    tier: str | None = None,
) -> RunningTotalsView:
    """Return the running totals of steps ``first`` to ``last``, at a tier up to the caller's own.

    The defaults are the first step that the level has, the newest step, and the caller's tier.
    Raises ``NotFound`` for a stream that the caller may not see, ``ClearanceTooLow``,
    ``InvalidInput`` for steps that do not exist and for more than 10^7 numbers, and ``Conflict`` if
    the stream has no elements yet; for a retired stream also for anything but parts of ranges that
    the caller received before.
    """
    principal.require("analyst")
    with server.database.read() as session:
        ask = _allowed(session, server, principal, name, first, last, tier)
        totals = outputs_of(session, server, ask.dataset, ask.query, ask.release.rung, ask.span)
    with server.database.write_beside() as session:
        lock_query(session, required(ask.query.id))
        again = _allowed(session, server, principal, name, ask.span[0], ask.span[-1], tier)
        if again.release.id != ask.release.id:
            raise Conflict(f"Levels of {ask.query.name!r} changed in the meantime; try again.")
        quota.require_range(session, server, principal.name)
        leaf = _recorded(session, server, principal, again, totals)
        days = days_of(session, again.query, again.span)
    return _view(again, leaf, totals, days)


def _allowed(
    session: Session,
    server: Server,
    principal: Principal,
    name: str,
    first: int | None,
    last: int | None,
    tier_name: str | None,
) -> _Ask:
    clearance = clearance_of(session, required(principal.user_id))
    missing = NotFound(f"There is no stream {name!r}.")
    if clearance is None:
        raise missing
    query = stream_by_name(session, name)
    rung = allowed_rung(session, query, clearance)
    if rung is None:
        raise missing
    tier = clearance
    if tier_name is not None:
        tier, requested_rung = rung_of_tier(
            query,
            clearance,
            tier_name,
            partial(tier_by_name, session),
            partial(allowed_rung, session, query),
        )
        if requested_rung < rung:
            raise ClearanceTooLow(
                f"The level of {tier.name!r} is more accurate than {clearance.name!r} allows for"
                f" {query.name!r}: ask for {clearance.name!r}, or ask an admin for a higher"
                " clearance."
            )
        rung = requested_rung
    dataset = session.get_one(Dataset, query.dataset_id)
    release = session.exec(
        select(Release).where(col(Release.query_id) == query.id, col(Release.rung) == rung)
    ).first()
    if release is None:
        raise IntegrityViolation(
            f"Stream {query.name!r} has no outputs at a level that it allows; its rows do not"
            " fit each other. Restore the database from a backup."
        )
    beginning = first_of(server, dataset, query, release)
    step = state_row(session, query).step
    span = _span(query, beginning, step, first, last)
    numbers = len(span) * stream_kind_of(query).shape.dimension
    if numbers > MOST_NUMBERS:
        raise InvalidInput(
            f"The range has {numbers:,} numbers; one answer has {MOST_NUMBERS:,} at most."
            f" Request a shorter one.",
            pointer="/to",
        )
    if query.status != "active" and not _given(session, principal, query, release, span):
        raise Conflict(
            f"Stream {query.name!r} is {query.status} and releases no new totals; ranges that"
            f" you received can still be read, by their first and last step."
        )
    return _Ask(query, dataset, tier, release, span)


def _given(
    session: Session, principal: Principal, query: Query, release: Release, span: range
) -> bool:
    """Return True if an earlier answer to the caller contained these steps."""
    leaves = session.exec(
        select(Leaf.bytes).where(
            col(Leaf.kind) == "stream",
            col(Leaf.user) == principal.name,
            col(Leaf.query) == query.name,
        )
    )
    answers = (json.loads(content) for content in leaves)
    return any(
        answer["release"] == release.public_id
        and answer["first"] <= span[0]
        and answer["last"] >= span[-1]
        for answer in answers
    )


def _span(query: Query, beginning: int, step: int, first: int | None, last: int | None) -> range:
    if step < beginning:
        raise Conflict(
            f"Stream {query.name!r} has no totals at this level yet; its first one comes with"
            f" element {beginning}, and there are {step}."
        )
    start, end = beginning if first is None else first, step if last is None else last
    if start < beginning:
        raise InvalidInput(
            f"At this level {query.name!r} has totals from step {beginning} on, since it was"
            f" added then; the noise of nodes that were no longer in use is not stored. Read"
            f" from there, or at the tier that it had before.",
            pointer="/from",
        )
    if end > step:
        raise InvalidInput(
            f"Stream {query.name!r} has {step} elements so far, and none with number {end}.",
            pointer="/to",
        )
    if start > end:
        raise InvalidInput(f"The range from {start} to {end} is empty.", pointer="/to")
    return range(start, end + 1)


def _recorded(
    session: Session, server: Server, principal: Principal, ask: _Ask, totals: IntVector
) -> AppendedLeaf:
    first, last = ask.span[0], ask.span[-1]
    name = f"{ask.release.public_id}:{first}:{last}"
    holding = holding_at(session, principal, ask.query, ask.release.rung)
    fields = leaf_fields(
        server,
        principal,
        "stream",
        ask.dataset,
        ask.query,
        ask.tier,
        stream_kind_of(ask.query).level(ask.release.rung),
        ask.release,
    )
    leaf = leaves.append(
        session,
        **fields,
        first=first,
        last=last,
        value_hmac=leaves.value_hmac(server.secrets.values, name, totals.reshape(-1)),
    )
    if holding is None:
        grant(session, principal, ask.tier, ask.release, leaf)
    return leaf


def _view(
    ask: _Ask, leaf: AppendedLeaf, totals: IntVector, days: Sequence[date] | None
) -> RunningTotalsView:
    kind, rung = stream_kind_of(ask.query), ask.release.rung
    shape = kind.shape
    lattice = float(shape.granularity(kind))
    return RunningTotalsView(
        stream=ask.query.name,
        dataset=ask.dataset.name,
        tier=ask.tier.name,
        mechanism=ask.query.mechanism,
        level=kind.level(rung),
        guarantee=kind.guarantee(rung, ask.dataset.delta),
        granularity=lattice,
        asserted_by=ask.query.asserted_by,
        released_at=leaf.at,
        receipt=receipt_of(leaf),
        items=Totals(
            ask.span[0],
            np.multiply(totals, lattice, dtype=np.float64),
            list(shape.errors(kind, rung, ask.span)),
        ),
        covariance=_covariance(kind, rung),
        days=days,
    )


def _covariance(kind: StreamKind, rung: int) -> TotalsCovarianceView:
    """Return which independent noises the totals of a level are made of."""
    deviation = kind.error_of_part(rung, Fraction(1)).standard_deviation
    weights, decays = kind.shape.buffers() or (None, None)
    return TotalsCovarianceView(kind.shape.settings(), deviation**2, weights, decays)
