"""Show what the log rests on now, and check proofs against the checkpoints that were signed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlmodel import Session, col, func, select

from penstock.errors import Conflict, LogUnavailable, NotFound, Suspended
from penstock.persistence.tables import Grant, Leaf
from penstock.services.access.principals import Principal
from penstock.services.audit import proofs
from penstock.services.context import Server
from penstock.transparency_log import checkpoints, merkle
from penstock.transparency_log.views import (
    CheckpointView,
    ConsistencyView,
    InclusionView,
)

Proof = TypeVar("Proof")

MOST_AT_ONCE = 2_000
"""Leaves up to which everything is recomputed while somebody waits for the answer."""


@dataclass(frozen=True)
class WitnessView:
    """The furthest that the witness saw of the log; its root in hexadecimal, empty before any."""

    size: int
    root_hash: str


@dataclass(frozen=True)
class ProofStatusView:
    """``suspended`` says why nothing is drawn, ``unavailable`` why the log takes nothing in.

    Both are none where all is well; ``checkpoint`` is where there is nothing to sign yet, or
    no witness that saw it; ``witness`` where that cannot be read.
    """

    checkpoint: CheckpointView | None
    witness: WitnessView | None
    suspended: str | None
    unavailable: str | None
    leaves: int
    hand_outs: int

    @property
    def sound(self) -> bool:
        """Whether the log goes on as it should."""
        return self.suspended is None and self.unavailable is None

    @property
    def brief(self) -> bool:
        """Whether all of it can be verified while somebody waits."""
        return self.leaves <= MOST_AT_ONCE


@dataclass(frozen=True)
class CheckedProofView(Generic[Proof]):
    """A proof, held to the checkpoints that were signed of its sizes, the smaller one first.

    ``holds`` is none where one of them was never signed, so that there is no root to hold it to.
    """

    proof: Proof
    checkpoints: list[CheckpointView]
    holds: bool | None


def status(server: Server, principal: Principal) -> ProofStatusView:
    """Look at the log, its checkpoint and its witness; nothing is recomputed."""
    principal.require("auditor")
    checkpoint = witness = suspended = unavailable = None
    try:
        seen = server.sequencer.witness.seen()
        witness = WitnessView(seen.size, seen.root.hex())
        server.sequencer.require_sound()
    except Suspended as problem:
        suspended = problem.detail
    except LogUnavailable as problem:
        unavailable = problem.detail
    try:
        checkpoint = proofs.checkpoint(server)
    except NotFound:
        pass
    except (LogUnavailable, Suspended) as problem:
        unavailable = unavailable or problem.detail
    with server.database.read() as session:
        leaves, hand_outs = _count(session)
    return ProofStatusView(checkpoint, witness, suspended, unavailable, leaves, hand_outs)


def inclusion(
    server: Server, principal: Principal, index: int, size: int | None = None
) -> CheckedProofView[InclusionView]:
    """The proof that a leaf is in the log.  Raises as ``proofs.inclusion`` does."""
    proof = proofs.inclusion(server, principal, index, size)
    hashes = [bytes.fromhex(hash_) for hash_ in proof.hashes]
    leaf = bytes.fromhex(proof.leaf_hash)
    signed = _signed(server, [proof.size])
    holds = None
    if signed:
        root = bytes.fromhex(signed[0].root_hash)
        holds = merkle.included(leaf, proof.index, proof.size, hashes, root)
    return CheckedProofView(proof, signed, holds)


def consistency(server: Server, old: int, new: int) -> CheckedProofView[ConsistencyView]:
    """The proof that the log only grew.  Raises as ``proofs.consistency`` does."""
    proof = proofs.consistency(server, old, new)
    hashes = [bytes.fromhex(text) for text in proof["hashes"]]
    signed = _signed(server, [old, new])
    holds = None
    if len(signed) == 2:
        first, last = (bytes.fromhex(checkpoint.root_hash) for checkpoint in signed)
        holds = merkle.consistent(old, new, first, last, hashes)
    return CheckedProofView(proof, signed, holds)


def require_brief(server: Server, principal: Principal) -> None:
    """Raise ``Conflict`` where the log is too long to be verified while somebody waits."""
    principal.require("auditor")
    with server.database.read() as session:
        leaves, _ = _count(session)
    if leaves > MOST_AT_ONCE:
        raise Conflict(
            f"The log has {leaves:,} leaves, and up to {MOST_AT_ONCE:,} are verified while somebody"
            " waits. Run `penstock audit verify` on the server's machine, or verify an export"
            " with `python -m penstock_client.offline`."
        )


def _signed(server: Server, sizes: Sequence[int]) -> list[CheckpointView]:
    with server.database.read() as session:
        rows = [checkpoints.at_size(session, size) for size in sizes]
        return [checkpoints.view(session, row) for row in rows if row is not None]


def _count(session: Session) -> tuple[int, int]:
    """How many leaves have their place, and how many hand-outs there are."""
    leaves = select(func.count()).select_from(Leaf).where(col(Leaf.index).is_not(None))
    hand_outs = select(func.count()).select_from(Grant)
    return session.exec(leaves).one(), session.exec(hand_outs).one()
