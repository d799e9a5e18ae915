"""Seal a dataset's secrets: the fingerprint of its file, and the salt that chooses groups."""

import hmac
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

from sqlmodel import Session, col, select

from penstock.connectors.choice import snapshot_of
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning import prepare
from penstock.connectors.progress import Progress, silent
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.sources import VECTORS
from penstock.encryption.envelope import RowIdentity, open_envelope, seal
from penstock.encryption.key import Key
from penstock.encryption.secrets import FINGERPRINT, FIRST
from penstock.errors import Conflict, IntegrityViolation, RegisteredAlready
from penstock.persistence.tables.datasets import Dataset
from penstock.services.context import Server
from penstock.services.noise.keys import dataset_key, identity

SALT_SIZE = 32


@dataclass(frozen=True)
class Fingerprint:
    """Hold the HMAC of a file, 32 bytes, and the number and the bytes of its key."""

    number: int
    key: bytes = field(repr=False)
    digest: bytes


def salt_of(server: Server, dataset: Dataset) -> bytes:
    """Return the secret salt by which a unit's contributions are chosen."""
    return _unseal(server, dataset, dataset.sealed_salt, "salt", SALT_SIZE)


def fingerprints_of(
    server: Server, request: DatasetSpec, progress: Progress = silent
) -> list[Fingerprint]:
    """Return the fingerprints of a file under every stored key, the newest first.

    The file is read once for each.  Raises as ``prepare.fingerprint`` does.
    """
    return [
        Fingerprint(number, key, prepare.fingerprint(request, key, server.sources, progress))
        for number, key in server.secrets.kept[FINGERPRINT].items()
    ]


def fingerprint_of(server: Server, dataset: Dataset) -> Fingerprint:
    """Return the keyed fingerprint of the source, as it was registered."""
    sealed = dataset.sealed_fingerprint
    if sealed is None:
        raise Conflict(f"Dataset {dataset.name!r} has no file.")
    kept = server.secrets.kept[FINGERPRINT]
    # The fingerprint of a shredded dataset was sealed under the newest key of that time.
    shredded = not dataset.wrapped_kek
    keys = [Key(key) for key in kept.values()] if shredded else [dataset_key(server, dataset)]
    for key, (number, secret) in product(keys, sorted(kept.items())):
        with suppress(IntegrityViolation):
            digest = open_envelope(key, sealed, _row(dataset, _kind(number), 32))
            return Fingerprint(number, secret, digest)
    raise IntegrityViolation(
        f"The fingerprint of the file of dataset {dataset.name!r} does not authenticate: it was"
        " altered outside of this server, or is under a key that secrets.json lacks. Restore the"
        " database and secrets.json from backups of one time."
    )


def sealed_fingerprint(server: Server, dataset: Dataset, fingerprint: Fingerprint) -> bytes:
    """Return the encrypted fingerprint of a dataset's file, with the number of its key."""
    return sealed(server, dataset, fingerprint.digest, _kind(fingerprint.number))


def keep_fingerprint(server: Server, dataset: Dataset) -> None:
    """Seal the fingerprint under the server's secrets, before the dataset's key is destroyed.

    So the file cannot be registered again as if no budget had been spent on it.
    """
    if dataset.sealed_fingerprint is not None:
        fingerprint = fingerprint_of(server, dataset)
        row = _row(dataset, _kind(fingerprint.number), 32)
        dataset.sealed_fingerprint = seal(Key(server.secrets.fingerprint), fingerprint.digest, row)


def refuse_twin(
    session: Session,
    server: Server,
    fingerprints: Sequence[Fingerprint],
    refilled: Dataset | None = None,
) -> None:
    """Raise ``RegisteredAlready`` for a file that is: two names would have two budgets.

    ``fingerprints`` are those of the file under every stored key; empty without a file.  Versions
    of the dataset ``refilled`` are other rows of one view, whose budgets add up.
    """
    if not fingerprints:
        return
    digests = {fingerprint.number: fingerprint.digest for fingerprint in fingerprints}
    for other in session.exec(select(Dataset).where(col(Dataset.withdrawn_at).is_(None))).all():
        if other.sealed_fingerprint is None:
            continue
        if refilled is not None and other.folded == refilled.folded:
            continue
        known = fingerprint_of(server, other)
        if known.number not in digests:
            raise Conflict("The key of fingerprints was rotated just now; register the data again.")
        if hmac.compare_digest(known.digest, digests[known.number]):
            raise RegisteredAlready(
                f"These data are registered already, as dataset {other.name!r}, version"
                f" {other.version}; use that dataset, so that its budget counts everything. If"
                f" its declaration is wrong, correct it.",
                dataset=other.name,
                version=other.version,
            )


def without_snapshot(spec: DatasetSpec) -> list[str]:
    """Return a notice if a dataset's rows may change between queries, and none otherwise."""
    source = spec.source
    if source.engine == VECTORS or snapshot_of(spec) is not Snapshot.NONE:
        return []
    notice = (
        f"The rows of {source.table} may change between queries: {source.engine} cannot go back to"
        " those of today, and only the names and types of columns are the registered ones. Each"
        " query reads one state of them, and this dataset's budget counts all of them. Register a"
        " table that nobody writes if queries must agree with each other."
    )
    return [notice]


def _kind(number: int) -> str:
    """Return the type under which a fingerprint is sealed, which names its key."""
    return "fingerprint" if number == FIRST else f"fingerprint {number}"


def _row(dataset: Dataset, kind: str, length: int) -> RowIdentity:
    return RowIdentity(table="dataset", dataset=identity(dataset), length=length, type=kind)


def sealed(server: Server, dataset: Dataset, content: bytes, kind: str) -> bytes:
    """Encrypt content of a dataset for its row, under the dataset's key."""
    return seal(dataset_key(server, dataset), content, _row(dataset, kind, len(content)))


def _unseal(
    server: Server, dataset: Dataset, sealed: bytes | None, kind: str, length: int
) -> bytes:
    key = dataset_key(server, dataset)
    if sealed is None:
        raise Conflict(f"Dataset {dataset.name!r} has no file.")
    return open_envelope(key, sealed, _row(dataset, kind, length))
