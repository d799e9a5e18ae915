"""Write and read the manifest of a long vector: what its row has in place of the vector.

A manifest is ``MAGIC | length | public part | sealed key``.  The public part is JSON: the attempt,
the number of chunks, of coordinates of a chunk and of the vector, of integers for each coordinate,
the SHA-256 of each chunk's ciphertext, and the root of the Merkle tree over them.  The key of the
chunks is sealed under the query's key for this row, and for the digest of the public part: so no
part of a manifest can be altered, or put into another row.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from penstock.encryption.envelope import OVERHEAD, RowIdentity, open_key, seal_key
from penstock.encryption.key import SIZE, Key
from penstock.errors import IntegrityViolation
from penstock.nesting import shallow
from penstock.transparency_log.merkle.tree import Frontier, leaf_hash

MAGIC = b"\x02penstock chunks 1\n"
"""Its first byte is no version of an envelope, which a vector in its row begins with."""

LARGEST = 1 << 17
"""More bytes than any manifest has, and less than a chunk."""

_LENGTH = 4
_KEY_SIZE = OVERHEAD + SIZE
_DIGEST = re.compile("[0-9a-f]{64}")
_ATTEMPT = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Manifest:
    """Hold the public part of a manifest; ``hashes`` and ``root`` are in hexadecimal."""

    attempt: str
    count: int
    chunk: int
    values: int
    parts: int
    hashes: tuple[str, ...]
    root: str

    def public(self) -> bytes:
        """Return the public part."""
        # Not ``asdict``, which copies every hash: each release reads this several times.
        return json.dumps(vars(self), sort_keys=True, separators=(",", ":")).encode()


def root_of(hashes: Sequence[str]) -> str:
    """Return the root over chunks: a leaf has its chunk's number, their count, and its hash."""
    tree = Frontier()
    for index, digest in enumerate(hashes):
        tree.add(leaf_hash(b"%d/%d\x00%b" % (index, len(hashes), bytes.fromhex(digest))))
    return tree.root.hex()


def is_manifest(stored: bytes) -> bool:
    """Return True if the sealed content of a release's row is a manifest, not a vector."""
    return stored[: len(MAGIC)] == MAGIC


def sealed(manifest: Manifest, key: Key, query_key: Key, place: RowIdentity) -> bytes:
    """Return a manifest for its row, which is ``place``, with the key of the chunks."""
    public = manifest.public()
    envelope = seal_key(query_key, key, _place(place, public))
    return MAGIC + len(public).to_bytes(_LENGTH, "big") + public + envelope


def public_part(stored: bytes) -> Manifest:
    """Return the public part, whose authenticity only ``opened`` knows.

    Raises ``IntegrityViolation`` for one that is cut or does not fit itself.
    """
    return _split(stored)[0]


def opened(stored: bytes, query_key: Key, place: RowIdentity) -> tuple[Manifest, Key]:
    """Return a manifest and the key of its chunks.

    Raises ``IntegrityViolation`` for any defect, and for the manifest of another row.
    """
    return opened_at(stored, query_key, lambda _: place)


def opened_at(
    stored: bytes, query_key: Key, place_of: Callable[[int], RowIdentity]
) -> tuple[Manifest, Key]:
    """Return the same for a row whose place depends on the number of integers for each coordinate.

    Until the key is open that number is only claimed.
    """
    manifest, public, envelope = _split(stored)
    place = place_of(manifest.parts)
    if manifest.values * manifest.parts != place.length:
        raise _broken("is of a vector of another length")
    return manifest, open_key(query_key, envelope, _place(place, public))


def _split(stored: bytes) -> tuple[Manifest, bytes, bytes]:
    """Return the manifest, its public part as it is written, and the sealed key."""
    start = len(MAGIC) + _LENGTH
    size = int.from_bytes(stored[len(MAGIC) : start], "big")
    public, envelope = stored[start : start + size], stored[start + size :]
    if not is_manifest(stored) or len(envelope) != _KEY_SIZE:
        raise _broken("is cut short")
    return of_public(public), public, envelope


def of_public(public: bytes) -> Manifest:
    """Return the manifest of a public part.

    Raises ``IntegrityViolation`` for one that does not fit itself.
    """
    try:
        fields = json.loads(shallow(public.decode()))
        manifest = Manifest(**{**fields, "hashes": tuple(fields["hashes"])})
    except (ValueError, TypeError, KeyError):
        raise _broken("cannot be read") from None
    if public != manifest.public() or not _is_whole(manifest):
        raise _broken("does not fit itself")
    return manifest


def _is_whole(manifest: Manifest) -> bool:
    numbers = (manifest.count, manifest.chunk, manifest.values, manifest.parts)
    if not all(type(number) is int and number > 0 for number in numbers):
        return False
    texts = (manifest.attempt, manifest.root, *manifest.hashes)
    if not all(isinstance(text, str) for text in texts):
        return False
    return (
        _ATTEMPT.fullmatch(manifest.attempt) is not None
        and all(_DIGEST.fullmatch(digest) for digest in manifest.hashes)
        and manifest.count == len(manifest.hashes) == -(-manifest.values // manifest.chunk)
        and manifest.root == root_of(manifest.hashes)
    )


def _place(place: RowIdentity, public: bytes) -> RowIdentity:
    return replace(place, type=f"chunks {hashlib.sha256(public).hexdigest()}")


def _broken(what: str) -> IntegrityViolation:
    return IntegrityViolation(
        f"The manifest of a stored release {what}. Nothing was drawn or served from it. Restore a"
        " database and a key ring that belong together."
    )
