"""Check that today's keys open a backup, before it is restored.

A backup comes with a *manifest*: the keys that it needs, their owners, and the SHA-256 of the
file, under an HMAC.  The result depends on the backup itself, and on whether the provider unwraps
the keys in it; so a backup from before there were manifests is checked as well.  Nothing is
changed.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.encryption.hierarchy import dataset_context, wrapping_key
from penstock.encryption.providers import KeyProvider
from penstock.encryption.secrets import VALUES, Secrets
from penstock.encryption.signing import signing_context
from penstock.errors import IntegrityViolation, KeysUnavailable, Unavailable
from penstock.nesting import shallow
from penstock.persistence.backups import backup_contents
from penstock.persistence.backups.backup_contents import Contents
from penstock.services.operations import chunk_copies, secret_checks

SUFFIX = ".keys.json"
"""The suffix of a manifest's file name, after the backup's."""

FORMAT = "penstock-backup"
VERSION = 1
_LARGEST = 64 << 20
_LABEL = b"penstock backup 1\x00"


@dataclass(frozen=True)
class NeededKeyView:
    """Hold a key that a backup needs, its dataset, and what is wrong with it today.

    ``dataset`` and ``version`` are None for the key that wraps the log's signing key.
    """

    key: str
    dataset: str | None
    version: int | None
    problem: str | None


@dataclass(frozen=True)
class BackupCheckView:
    """Hold the keys that a backup needs, and the problems with opening it today.

    ``manifest`` describes the one beside it; ``problems`` are those of the backup as a whole.
    """

    path: str
    kind: str
    schema: str
    manifest: str
    keys: list[NeededKeyView]
    problems: list[str]

    @property
    def opens(self) -> bool:
        """Return True if the backup can be restored, and all of it read."""
        return not self.problems and not any(key.problem for key in self.keys)


def check(provider: KeyProvider, secrets: Secrets, path: Path) -> BackupCheckView:
    """Check a backup against today's keys.

    Raises ``InvalidInput`` for a file that is not a backup, ``Unavailable`` if it cannot be read,
    ``KeysUnavailable`` if the provider does not answer.
    """
    provider.health()
    contents = backup_contents.read(path)
    problems = []
    other = secret_checks.other(secrets, dict(_pairs(contents)))
    if other:
        problems.append(
            f"secrets.json is not the one that it was made with ({', '.join(other)} differ)"
        )
    manifest, wrong = _manifest(secrets, path, contents)
    if wrong:
        problems.append(wrong)
    return BackupCheckView(
        path=str(path),
        kind=contents.kind,
        schema=backup_contents.newest(contents.rows.get("alembic_version", [])),
        manifest=manifest,
        keys=[
            NeededKeyView(
                wrapping_key(wrapped), name, version, _problem(provider, wrapped, context)
            )
            for name, version, wrapped, context in _wrapped(contents)
        ],
        problems=problems,
    )


def needed(path: Path) -> set[str]:
    """Return the names of the keys that a backup needs.  Raises as ``backup_contents.read``."""
    return {wrapping_key(wrapped) for _, _, wrapped, _ in _wrapped(backup_contents.read(path))}


def write(secrets: Secrets, path: Path, chunks: list[list[str]]) -> Path:
    """Write the manifest of a backup beside it, with its ``chunks`` (``chunk_copies``).

    Raises ``Unavailable``.
    """
    contents = backup_contents.read(path)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": contents.kind,
        "sha256": _sha256(path),
        "keys": _listed(contents),
    }
    if chunks:
        manifest["chunks"] = chunks
    manifest["hmac"] = _mac(secrets.values, manifest)
    place = path.with_name(path.name + SUFFIX)
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise Unavailable(
            f"{place} cannot be written ({error.strerror}). The backup itself is whole; check it"
            f" with `penstock backup check {path}`."
        ) from error
    return place


def _wrapped(contents: Contents) -> Iterator[tuple[str | None, int | None, bytes, bytes]]:
    """Yield each wrapped key in a backup: dataset and version, the wrapped key, its context."""
    for name, folded, version, wrapped in contents.rows.get("dataset", []):
        if wrapped:  # otherwise it was shredded before
            identity = f"{folded.decode()}@{int(version)}"
            yield name.decode(), int(version), wrapped, dataset_context(identity)
    for public, wrapped in contents.rows.get("log_key", []):
        yield None, None, wrapped, signing_context(public)


def _pairs(contents: Contents) -> Iterator[tuple[str, bytes]]:
    for name, digest in contents.rows.get("secret_check", []):
        yield name.decode(), digest


def _problem(provider: KeyProvider, wrapped: bytes, context: bytes) -> str | None:
    try:
        provider.unwrap(wrapped, context)
    except KeysUnavailable:
        return "not there"
    except IntegrityViolation:
        return "does not open it"
    return None


def _listed(contents: Contents) -> list[dict[str, Any]]:
    return [
        {"key": wrapping_key(wrapped), "dataset": name, "version": version}
        for name, version, wrapped, _ in _wrapped(contents)
    ]


def _manifest(secrets: Secrets, path: Path, contents: Contents) -> tuple[str, str | None]:
    """Describe a backup's manifest, and return the problem with it."""
    place = path.with_name(path.name + SUFFIX)
    manifest: object = None
    try:
        if place.stat().st_size <= _LARGEST:
            manifest = json.loads(shallow(place.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return "none; the backup itself was read", None
    except (OSError, ValueError):
        return "cannot be read", f"its manifest {place.name} cannot be read"
    given = manifest.pop("hmac", None) if isinstance(manifest, dict) else None
    if (
        not isinstance(manifest, dict)
        or not isinstance(given, str)
        or not given.isascii()
        or not any(hmac.compare_digest(given, _mac(key, manifest)) for key in secrets.every(VALUES))
    ):
        return "not authentic", f"its manifest {place.name} was not written with today's secrets"
    if manifest.get("sha256") != _sha256(path) or manifest.get("keys") != _listed(contents):
        return "of another file", f"it is not the file that its manifest {place.name} was made for"
    return "authentic, and of this file", chunk_copies.problem(path, manifest.get("chunks"))


def _mac(key: bytes, manifest: dict[str, Any]) -> str:
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key, _LABEL + text, hashlib.sha256).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
