"""Handing something out: its leaf, and what says that somebody holds it, in one transaction."""

from dataclasses import asdict

from sqlmodel import Session

from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Grant, Leaf, Query, Release, Tier
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.transparency_log import leaves


def leaf_of(
    session: Session,
    server: Server,
    principal: Principal,
    kind: str,
    dataset: Dataset,
    query: Query,
    tier: Tier,
    release: Release,
    **said: object,
) -> Leaf:
    """The leaf of what is handed to ``principal``; ``said`` are further fields."""
    return leaves.append(
        session,
        kind=kind,
        at=server.clock(),
        actor=principal.actor,
        user=principal.name,
        dataset=dataset.name,
        query=query.name,
        tier=tier.name,
        level=asdict(kind_of(query).level(release.rung)),
        release=release.public_id,
        **said,
    )


def grant(
    session: Session, principal: Principal, tier: Tier, release: Release, leaf: Leaf
) -> Grant:
    """What says that ``principal`` holds a level from then on, as ``leaf`` has it."""
    made = Grant(
        user_id=required(principal.user_id),
        release_id=required(release.id),
        tier_id=required(tier.id),
        leaf_id=required(leaf.id),
        at=leaf.at,
    )
    session.add(made)
    return made
