"""What is sealed of a dataset: the fingerprint of its file, and the salt that chooses groups."""

import hmac

from sqlmodel import Session, col, select

from penstock.encryption import Key, RowIdentity, open_envelope, seal
from penstock.errors import Conflict
from penstock.persistence.tables import Dataset
from penstock.services.server import Server
from penstock.services.state import dataset_key, identity

SALT_SIZE = 32


def salt_of(server: Server, dataset: Dataset) -> bytes:
    """The secret by which the contributions of a unit are chosen."""
    return _unseal(server, dataset, dataset.sealed_salt, "salt", SALT_SIZE)


def fingerprint_of(server: Server, dataset: Dataset) -> bytes:
    """The keyed fingerprint of the source, as it was registered."""
    if dataset.sealed_fingerprint is not None and not dataset.wrapped_kek:
        key = Key(server.secrets.fingerprint)
        return open_envelope(key, dataset.sealed_fingerprint, _row(dataset, "fingerprint", 32))
    return _unseal(server, dataset, dataset.sealed_fingerprint, "fingerprint", 32)


def keep_fingerprint(server: Server, dataset: Dataset) -> None:
    """Seal the fingerprint under the server's secrets, before the dataset's key is destroyed.

    The file can so not be registered again as if nobody had spent anything on it.
    """
    if dataset.sealed_fingerprint is not None:
        digest, row = fingerprint_of(server, dataset), _row(dataset, "fingerprint", 32)
        dataset.sealed_fingerprint = seal(Key(server.secrets.fingerprint), digest, row)


def refuse_twin(session: Session, server: Server, fingerprint: bytes) -> None:
    """A file under two names would have two budgets for the same people."""
    for other in session.exec(select(Dataset).where(col(Dataset.withdrawn_at).is_(None))).all():
        if other.sealed_fingerprint is not None and hmac.compare_digest(
            fingerprint_of(server, other), fingerprint
        ):
            raise Conflict(
                f"This very file is registered already, as dataset {other.name!r}, version"
                f" {other.version}; use that one, so that its budget counts everything. If its"
                " declaration is wrong, correct that."
            )


def _row(dataset: Dataset, kind: str, length: int) -> RowIdentity:
    return RowIdentity(table="dataset", dataset=identity(dataset), length=length, type=kind)


def sealed(server: Server, dataset: Dataset, content: bytes, kind: str) -> bytes:
    """Something of a dataset, encrypted for its row under the dataset's key."""
    return seal(dataset_key(server, dataset), content, _row(dataset, kind, len(content)))


def _unseal(
    server: Server, dataset: Dataset, sealed: bytes | None, kind: str, length: int
) -> bytes:
    key = dataset_key(server, dataset)
    if sealed is None:
        raise Conflict(f"Dataset {dataset.name!r} has no file behind it.")
    return open_envelope(key, sealed, _row(dataset, kind, length))
