"""Collect the signatures of cosigners, so that the server cannot show two different logs.

A cosigner follows the log from outside (``penstock-client audit watch`` is one), and signs a
checkpoint after verifying that it continues the one before.  The setting ``cosigners`` lists the
trusted ones by their public keys; their signatures are verified, stored once per checkpoint,
verified again whenever they are read, and served under the checkpoint's note.

Cosigning appends no leaf: a leaf would need a further checkpoint, to be cosigned in turn.  This
is not the log's witness (``witness``), a file of the server's own that detects a restored
database.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlmodel import Session, col, func, select

from penstock.encryption import notes
from penstock.errors import InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.log import Checkpoint, Cosignature
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.settings import Settings
from penstock.transparency_log import checkpoints
from penstock.transparency_log.views import CheckpointView, CosignatureView

AHEAD = timedelta(minutes=5)
"""The time by which a cosigner's clock may be ahead of the server's."""

POINTER = "/note"


def configured(settings: Settings) -> tuple[notes.Verifier, ...]:
    """Return the cosigners that the settings name.  Raises ``InvalidInput``."""
    verifiers = []
    for text in settings.cosigners.replace(",", " ").split():
        try:
            verifiers.append(notes.Verifier.read(text, notes.COSIGNATURE))
        except ValueError as problem:
            raise InvalidInput(
                f"The setting cosigners names {text!r}, which is not a cosigner's key: {problem}."
                " `penstock-client audit key` makes a key and prints the text for this setting."
            ) from problem
    if len({verifier.public for verifier in verifiers}) < len(verifiers):
        raise InvalidInput("The setting cosigners names one key twice.")
    return tuple(verifiers)


def checkpoint(server: Server, cosigned: int = 0) -> CheckpointView:
    """Return the newest checkpoint that has the required cosignatures, with them.

    Raises ``NotFound`` if there is none, and what ``Sequencer.cover_tree`` raises.
    """
    known = configured(server.settings)
    with server.database.read() as session:
        row = _newest(session, known, cosigned) if cosigned else checkpoints.newest(session)
        if row is None:
            raise NotFound(
                f"No checkpoint has {cosigned} cosignatures yet."
                if cosigned
                else "The log is empty; there is no checkpoint yet."
            )
        view = checkpoints.view(session, row, verified(session, row, known))
    server.sequencer.cover_tree(row)
    return view


def take(server: Server, principal: Principal, note: str) -> CheckpointView:
    """Store the signatures of cosigners in ``note``, and return the signed checkpoint with them.

    A cosigner counts once per checkpoint: a signature that is stored already stays.  Raises
    ``InvalidInput`` for a malformed note, for a note of another log or without a known cosigner,
    and for a signature that does not verify or whose time is in the future.
    """
    principal.require("auditor")
    known = configured(server.settings)
    try:
        signed_note = notes.Note.read(note)
    except ValueError as problem:
        raise InvalidInput(f"The note cannot be read: {problem}.", pointer=POINTER) from problem
    made = [
        (verifier, signed_note.signatures[verifier.name, verifier.id])
        for verifier in known
        if (verifier.name, verifier.id) in signed_note.signatures
    ]
    if not made:
        raise InvalidInput(
            "No cosigner whom this log knows signed the note; the operator names them in"
            " PENSTOCK_COSIGNERS.",
            pointer=POINTER,
        )
    for verifier, signature in made:
        _require_verified(server, verifier, signed_note.text, signature)
    with server.database.read() as session:
        _checkpoint_of(session, signed_note.text)  # also if nothing is written, after a restore
    with server.database.write() as session:
        row = _checkpoint_of(session, signed_note.text)
        there = {cosignature.public for cosignature in _stored(session, row)}
        for verifier, signature in made:
            if verifier.public not in there:
                session.add(
                    Cosignature(
                        checkpoint_id=required(row.id),
                        name=verifier.name,
                        public=verifier.public,
                        signed_at=notes.cosigned_at(signature),
                        signature=signature[notes.TIME_SIZE :],
                    )
                )
        session.flush()
        return checkpoints.view(session, row, verified(session, row, known))


def _require_verified(
    server: Server, verifier: notes.Verifier, text: str, signature: bytes
) -> None:
    if not verifier.verified(text, signature):
        raise InvalidInput(
            f"The cosignature of {verifier.name} does not verify over this note.", pointer=POINTER
        )
    latest = (server.clock() + AHEAD).timestamp()
    if notes.cosigned_at(signature) > latest:
        raise InvalidInput(
            f"The cosignature of {verifier.name} has a time in the future; correct the cosigner's"
            f" clock.",
            pointer=POINTER,
        )


def _checkpoint_of(session: Session, text: str) -> Checkpoint:
    """Return the checkpoint of this log whose text is exactly ``text``."""
    size = text.split("\n")[1] if text.count("\n") > 2 else ""
    if size.isascii() and size.isdigit() and len(size) < 17:
        row = checkpoints.at_size(session, int(size))
        if row is not None and row.note.partition("\n\n")[0] + "\n" == text:
            return row
    raise InvalidInput(
        "The note is not a checkpoint of this log. If it was signed with this log's key, the log"
        " was restored or forked: keep the note as evidence.",
        pointer=POINTER,
    )


def _newest(session: Session, known: Sequence[notes.Verifier], least: int) -> Checkpoint | None:
    """Return the newest checkpoint that enough of the ``known`` cosigners signed."""
    cosigned = (
        select(Cosignature.checkpoint_id)
        .where(col(Cosignature.public).in_([verifier.public for verifier in known]))
        .group_by(col(Cosignature.checkpoint_id))
        .having(func.count() >= least)
    )
    newest = (
        select(Checkpoint)
        .where(col(Checkpoint.id).in_(cosigned))
        .order_by(col(Checkpoint.size).desc())
        .limit(1)
    )
    return session.exec(newest).first()


def _stored(session: Session, row: Checkpoint) -> Sequence[Cosignature]:
    return session.exec(select(Cosignature).where(col(Cosignature.checkpoint_id) == row.id)).all()


def verified(
    session: Session, row: Checkpoint, known: Sequence[notes.Verifier]
) -> list[CosignatureView]:
    """Return the cosignatures of a checkpoint that verify, in the order of the setting."""
    text = row.note.partition("\n\n")[0] + "\n"
    stored = {cosignature.public: cosignature for cosignature in _stored(session, row)}
    cosignatures = []
    for verifier in known:
        kept = stored.get(verifier.public)
        if kept is None or not 0 <= kept.signed_at < 2**63:
            continue
        signature = kept.signed_at.to_bytes(notes.TIME_SIZE, "big") + kept.signature
        if verifier.verified(text, signature):
            at = datetime.fromtimestamp(kept.signed_at, UTC)
            cosignatures.append(
                CosignatureView(
                    verifier.name, at, notes.line(verifier.name, verifier.id, signature)
                )
            )
    return cosignatures
