"""Start a log: its key, the tree over its existing leaves, and its witness."""

from datetime import datetime

from sqlmodel import Session

from penstock.encryption.providers import KeyProvider
from penstock.errors import LogUnavailable
from penstock.persistence.database import Database
from penstock.transparency_log import checkpoints, tree_store
from penstock.transparency_log.checkpoints import Signer
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.spending import accounts
from penstock.transparency_log.witness.file_witness import Witness


def prepare(database: Database, provider: KeyProvider, witness: Witness, at: datetime) -> None:
    """Give a log a key and a tree if it has none, and let the witness see it.

    Whatever exists already stays unchanged, including a witness that saw more.  Raises
    ``KeysUnavailable``, ``LogUnavailable`` and ``IntegrityViolation``.
    """
    with database.write() as session:
        made = checkpoints.ensure_key(session, provider, at)
    more = True
    while more:
        with database.write() as session:
            more = tree_store.adopt(session, Signer.load(session, provider), at)
    with database.read() as session:
        newest, spent = checkpoints.newest(session), accounts(session)
    if made or newest is None:
        witness.begin()
    if newest is None:
        return
    with database.read() as session:
        # Older versions did not tell the witness what accounts had spent.
        fits = made or _fits(session, witness)
    if fits:
        witness.advance(Sight(newest.size, newest.root, spent))


def _fits(session: Session, witness: Witness) -> bool:
    """Return True if the log continues what the witness saw; otherwise it was restored."""
    try:
        seen = witness.seen()
    except LogUnavailable:
        return False  # opening the server reports it
    checkpoint = checkpoints.at_size(session, seen.size)
    return seen.size == 0 or (checkpoint is not None and checkpoint.root == seen.root)
