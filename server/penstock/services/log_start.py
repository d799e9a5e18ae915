"""Beginning a log: its key, the tree over what it holds already, and its witness."""

from datetime import datetime

from penstock.encryption import KeyProvider
from penstock.persistence import Database
from penstock.services import checkpoints, growth
from penstock.services.checkpoints import Signer
from penstock.services.sequencer import accounts
from penstock.services.witness import Sight, Witness


def prepare(database: Database, provider: KeyProvider, witness: Witness, at: datetime) -> None:
    """Give a log that has none a key and a tree, and let the witness see it.

    Whatever is there already stays as it is, a witness that saw more included.  Raises
    ``KeysUnavailable``, ``LogUnavailable`` and ``IntegrityViolation``.
    """
    with database.write() as session:
        made = checkpoints.ensure_key(session, provider, at)
    more = True
    while more:
        with database.write() as session:
            more = growth.adopt(session, Signer.load(session, provider), at)
    with database.read() as session:
        newest, spent = checkpoints.newest(session), accounts(session)
    if made or newest is None:
        witness.begin()
    if made and newest is not None:
        witness.advance(Sight(newest.size, newest.root, spent))
