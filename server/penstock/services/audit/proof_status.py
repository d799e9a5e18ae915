"""Show the present state of the log, and check proofs against signed checkpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlmodel import Session, col, func, select

from penstock.errors import Conflict, LogUnavailable, NotFound, Suspended
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.queries import Grant
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
"""The largest number of leaves that are verified while the caller waits."""


@dataclass(frozen=True)
class WitnessView:
    """Hold the size and root of the log that the witness saw last (root in hexadecimal)."""

    size: int
    root_hash: str


@dataclass(frozen=True)
class ProofStatusView:
    """Hold the state of the log: ``suspended`` and ``unavailable`` give the reason of a problem.

    ``suspended`` says why nothing is drawn, ``unavailable`` why the log takes no leaves; both are
    None without a problem.  ``checkpoint`` is None if there is nothing to sign yet, or no witness
    that saw it; ``witness`` is None if it cannot be read.
    """

    checkpoint: CheckpointView | None
    witness: WitnessView | None
    suspended: str | None
    unavailable: str | None
    leaves: int
    hand_outs: int

    @property
    def sound(self) -> bool:
        """Return True if the log can take leaves and nothing is suspended."""
        return self.suspended is None and self.unavailable is None

    @property
    def brief(self) -> bool:
        """Return True if the whole log can be verified while the caller waits."""
        return self.leaves <= MOST_AT_ONCE


@dataclass(frozen=True)
class CheckedProofView(Generic[Proof]):
    """Hold a proof, and its result against the signed checkpoints of its sizes, smaller first.

    ``holds`` is None if one of them was never signed, so that there is no root to compare with.
    """

    proof: Proof
    checkpoints: list[CheckpointView]
    holds: bool | None


def status(server: Server, principal: Principal) -> ProofStatusView:
    """Return the state of the log, its checkpoint and its witness; nothing is recomputed."""
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
    """Return the checked proof that a leaf is in the log.  Raises as ``proofs.inclusion`` does."""
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
    """Return the checked proof that the log only grew.  Raises as ``proofs.consistency`` does."""
    proof = proofs.consistency(server, old, new)
    hashes = [bytes.fromhex(text) for text in proof["hashes"]]
    signed = _signed(server, [old, new])
    holds = None
    if len(signed) == 2:
        first, last = (bytes.fromhex(checkpoint.root_hash) for checkpoint in signed)
        holds = merkle.consistent(old, new, first, last, hashes)
    return CheckedProofView(proof, signed, holds)


def require_brief(server: Server, principal: Principal) -> None:
    """Raise ``Conflict`` if the log is too long to be verified while the caller waits."""
    principal.require("auditor")
    with server.database.read() as session:
        leaves, _ = _count(session)
    if leaves > MOST_AT_ONCE:
        raise Conflict(
            f"The log has {leaves:,} leaves, and up to {MOST_AT_ONCE:,} are verified on request."
            f" Run `penstock audit verify` on the server's machine, or verify an export"
            " with `python -m penstock_client.offline`."
        )


def _signed(server: Server, sizes: Sequence[int]) -> list[CheckpointView]:
    with server.database.read() as session:
        rows = [checkpoints.at_size(session, size) for size in sizes]
        return [checkpoints.view(session, row) for row in rows if row is not None]


def _count(session: Session) -> tuple[int, int]:
    """Return the number of leaves that are in the tree, and the number of hand-outs."""
    leaves = select(func.count()).select_from(Leaf).where(col(Leaf.index).is_not(None))
    hand_outs = select(func.count()).select_from(Grant)
    return session.exec(leaves).one(), session.exec(hand_outs).one()
