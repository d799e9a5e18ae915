"""Define the answers about the log: checkpoints, proofs and leaves."""

from dataclasses import dataclass
from datetime import datetime

from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12


@dataclass(frozen=True)
class CosignatureView:
    """A cosigner's statement that a checkpoint continues what it had seen of the log.

    ``line`` is its line under the note, with the line end.
    """

    cosigner: str
    cosigned_at: datetime
    line: str


@dataclass(frozen=True)
class CheckpointView:
    """The log's tree at one size, signed.  Hashes, key and signature are in hexadecimal.

    ``note`` is the text with its signature, which covers the lines above the empty one.  ``vkey``
    is the key in the form that tools for signed notes expect.
    """

    size: int
    root_hash: str
    signature: str
    key: str
    signed_at: datetime
    note: str
    vkey: str
    cosignatures: list[CosignatureView]

    @property
    def cosigned_note(self) -> str:
        """Return the note with the cosigners' lines under the log's own."""
        return self.note + "".join(cosignature.line for cosignature in self.cosignatures)


@dataclass(frozen=True)
class InclusionView:
    """The proof that a leaf is in a tree of ``size`` leaves: its audit path, lowest hash first."""

    index: int
    size: int
    leaf_hash: str
    hashes: list[str]


@dataclass(frozen=True)
class LeafView:
    """A leaf as it was hashed, in base64."""

    index: int
    leaf: str


_Beginning = TypedDict("_Beginning", {"from": int})


class ConsistencyView(_Beginning):
    """The proof that the tree of ``to`` leaves begins with that of ``from``; in hexadecimal."""

    to: int
    hashes: list[str]


@dataclass(frozen=True)
class VerificationView:
    """Hold the result of recomputing the leaves; ``problems`` are in words, empty if all agrees."""

    size: int
    root_hash: str
    checkpoints: int
    hand_outs: int
    problems: list[str]


@dataclass(frozen=True)
class RestorePreviewView:
    """Hold what acknowledging a restore would do.

    ``problem`` says why the server is suspended.  ``witnessed`` is the number of leaves that the
    witness saw, null if it is lost; this database has ``leaves``.  ``frozen`` counts queries that
    would draw nothing more, ``charged`` accounts that would count as having spent what the witness
    saw, and ``datasets`` were charged since and are missing.  ``basis`` identifies this restore.
    """

    problem: str
    witnessed: int | None
    leaves: int
    frozen: int
    charged: int
    datasets: list[str]
    basis: str


@dataclass(frozen=True)
class RestoreView:
    """Hold the result of acknowledging a restore.

    ``frozen`` queries release what is stored and draw nothing; ``datasets`` were charged after the
    backup and are not in it.
    """

    witnessed: int | None
    leaves: int
    frozen: int
    charged: int
    datasets: list[str]


@dataclass(frozen=True)
class ReceiptView:
    """The place of this release's record in the log.

    ``leaf`` is the leaf as it was hashed; ``checkpoint`` is the signed note of the first tree that
    contains it.
    """

    index: int | None
    leaf_hash: str
    leaf: str
    checkpoint: str | None = None
