"""Sign checkpoints of the log, as self-contained text notes.

::

    penstock/0123456789abcdef            whose log: after the key's SHA-256
    42                                   how many leaves
    BASE64                               their root
    2026-11-20T12:00:00.000000Z          when it was signed

    — penstock/0123456789abcdef BASE64   4 bytes that name the key, 64 of Ed25519

The signature is over the lines above the empty one, with their line ends.  The format is C2SP's
tlog-checkpoint and signed-note, so that tools of the Certificate Transparency community can read
it; the fourth line is an extension there, which their witnesses sign without checking it.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy import BigInteger, bindparam
from sqlmodel import Session, col, select

from penstock.encryption import notes
from penstock.encryption.providers import KeyProvider
from penstock.encryption.signing import SigningKey
from penstock.errors import Unavailable
from penstock.persistence.row_numbers import required
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.log import Checkpoint, LogKey
from penstock.transparency_log import leaves
from penstock.transparency_log.views import CheckpointView, CosignatureView

_NEWEST = select(Checkpoint).order_by(col(Checkpoint.size).desc()).limit(1)

_NEWEST_NOTE = select(Checkpoint.note).order_by(col(Checkpoint.size).desc()).limit(1)
NEWEST_NOTE = _NEWEST_NOTE.scalar_subquery()
"""The note of the whole tree's checkpoint, for statements that read something else as well."""


@dataclass(frozen=True)
class NewestCheckpoint:
    """Hold what is needed of the whole tree's checkpoint, without its row."""

    size: int
    root: bytes
    note: str


@dataclass(frozen=True)
class Signer:
    """Hold the current key: its row, and the key itself."""

    row: int
    key: SigningKey

    @classmethod
    def load(cls, session: Session, provider: KeyProvider) -> "Signer":
        """Return the newest key.  Raises ``Unavailable``, and as ``SigningKey.load`` does."""
        row = session.exec(select(LogKey).order_by(col(LogKey.id).desc()).limit(1)).first()
        if row is None:
            raise Unavailable(
                "The database has no key for signing the log yet. Run `penstock db upgrade`."
            )
        return cls(required(row.id), SigningKey.load(provider, row.public, row.wrapped))

    @cached_property
    def names(self) -> tuple[str, bytes]:
        """Return the name of the log, and the 4 bytes that name the key."""
        return origin(self.key.public), key_name(self.key.public)

    def sign(self, size: int, root: bytes, at: datetime) -> NewestCheckpoint:
        """Return a signed checkpoint of a tree; it is not stored yet."""
        name, named = self.names
        encoded = base64.b64encode(root).decode()
        text = f"{name}\n{size}\n{encoded}\n{leaves.timestamp(at)}\n"
        signature = self.key.sign(text.encode())
        note = f"{text}\n{notes.line(name, named, signature)}"
        return NewestCheckpoint(size, root, note)


def origin(public: bytes) -> str:
    """Return the name of the log that this key signs."""
    return f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"


def key_name(public: bytes) -> bytes:
    """Return the 4 bytes by which a signature names its key."""
    return verifier(public).id


def verifier(public: bytes) -> notes.Verifier:
    """Return the verifier of the checkpoints that this key signs."""
    return notes.Verifier(origin(public), notes.ED25519, public)


def ensure_key(session: Session, provider: KeyProvider, at: datetime) -> bool:
    """Make a key if there is none yet; return True if one was made."""
    if session.exec(select(LogKey.id).limit(1)).first() is not None:
        return False
    key, wrapped = SigningKey.create(provider)
    session.add(LogKey(public=key.public, wrapped=wrapped, created_at=at))
    return True


def newest(session: Session) -> Checkpoint | None:
    """Return the checkpoint of the whole tree."""
    return session.exec(_NEWEST).first()


def newest_without_row(session: Session) -> NewestCheckpoint | None:
    """Return what is needed of the checkpoint of the whole tree."""
    row = newest(session)
    return None if row is None else NewestCheckpoint(row.size, row.root, row.note)


def newest_note(session: Session) -> str | None:
    """Return the note of the whole tree's checkpoint, without loading its other columns."""
    return session.exec(_NEWEST_NOTE).first()


_GLANCE = Prepared(
    select(
        NEWEST_NOTE.label("note"),
        select(Checkpoint.root)
        .where(col(Checkpoint.size) == bindparam("size", type_=BigInteger))
        .scalar_subquery()
        .label("root"),
    )
)


def newest_note_and_root(session: Session, size: int) -> tuple[str | None, bytes | None]:
    """Return the whole tree's note, and the root of the tree when it had ``size`` leaves."""
    row = _GLANCE.first(session.connection(), {"size": size}) or {}
    return row.get("note"), row.get("root")


def signed_at(note: str) -> datetime | None:
    """Return the time at which a note says that it was signed; ``None`` if it is not a note."""
    lines = note.partition("\n\n")[0].splitlines()
    try:
        time = datetime.fromisoformat(lines[-1])
    except (IndexError, ValueError):
        return None
    return time if time.tzinfo is not None else None


def at_size(session: Session, size: int) -> Checkpoint | None:
    """Return the checkpoint of the tree when it had ``size`` leaves."""
    return session.exec(select(Checkpoint).where(col(Checkpoint.size) == size)).first()


def signed(session: Session, row: Checkpoint | None) -> bool:
    """Return True if a note is signed by the key that it names, and agrees with its row."""
    key = session.get(LogKey, row.log_key_id) if row is not None else None
    if row is None or key is None:
        return False
    try:
        checkpoint = view(session, row)
        text = row.note.partition("\n\n")[0] + "\n"
    except ValueError:
        return False
    if not verifier(key.public).verified(text, bytes.fromhex(checkpoint.signature)):
        return False
    named = text.startswith(f"{origin(key.public)}\n")
    return named and (checkpoint.size, checkpoint.root_hash) == (row.size, row.root.hex())


def view(
    session: Session, row: Checkpoint, cosignatures: Sequence[CosignatureView] = ()
) -> CheckpointView:
    """Return the view of a checkpoint: the parts of its note, and the keys that signed it."""
    text, _, signature = row.note.partition("\n\n")
    _, size, root, signed_at = text.splitlines()
    public = session.get_one(LogKey, row.log_key_id).public
    return CheckpointView(
        size=int(size),
        root_hash=base64.b64decode(root).hex(),
        signature=base64.b64decode(signature.split()[-1])[len(key_name(b"")) :].hex(),
        key=public.hex(),
        signed_at=datetime.fromisoformat(signed_at),
        note=row.note,
        vkey=verifier(public).text,
        cosignatures=list(cosignatures),
    )
