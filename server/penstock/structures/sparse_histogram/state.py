"""Write a histogram as bytes, for its owner to seal and store, and read it back.

The format, in which nothing is ever executed and numbers are little-endian::

    8 bytes   ``PENSTOCK``
    8 bytes   length of header and body
    header    a line of JSON: version, granularity, size of the domain, keys, and per rung
              its threshold in steps, or null if it was not released
    body      the ranks, 8 bytes each, then the values of every rung, 8 bytes each, signed
    32 bytes  SHA-256 of all bytes before it
    zeros     up to the next power of two

The padding hides the number of keys, except for a factor of two, from a reader who sees only the
length.  A reader of the bytes sees the keys themselves: until the first release, exactly those
whose count is not 0.  That support is exact; encryption alone protects it.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Final

import numpy as np

from penstock.errors import IntegrityViolation
from penstock.randomness.stream import Stream
from penstock.structures.sparse_histogram.contents import KeyNoise
from penstock.structures.sparse_histogram.domain import Domain
from penstock.structures.sparse_histogram.histogram import SparseHistogram
from penstock.structures.sparse_histogram.threshold import Thresholds

MAGIC: Final = b"PENSTOCK"
VERSION: Final = 1

_PREFIX = len(MAGIC) + 8
_DIGEST = hashlib.sha256().digest_size


def to_bytes(histogram: SparseHistogram) -> bytes:
    """Write the whole state except for what is public: mechanism, thresholds, domain."""
    path, limits = histogram.path, histogram.limits
    rungs = sorted(path)
    header = {
        "version": VERSION,
        "granularity": str(histogram.mechanism.granularity),
        "domain": str(histogram.domain.size),
        "keys": len(histogram.ranks),
        "rungs": [[rung, limits.get(rung)] for rung in rungs],
    }
    body = [histogram.ranks.astype("<u8"), *(path[rung].astype("<i8") for rung in rungs)]
    line = json.dumps(header, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    content = line + b"".join(part.tobytes() for part in body)
    content = MAGIC + len(content).to_bytes(8, "little") + content
    content += hashlib.sha256(content).digest()
    return content.ljust(1 << (len(content) - 1).bit_length(), b"\0")


def from_bytes(
    state: bytes,
    mechanism: KeyNoise,
    thresholds: Thresholds,
    domain: Domain,
    *,
    streams: Callable[[], Stream] = Stream.fresh,
) -> SparseHistogram:
    """Read the histogram that ``to_bytes`` wrote.

    Raises ``IntegrityViolation`` for bytes that are damaged, of another format, or of another
    lattice or domain.  Only the caller that stored them knows whether they are the newest.
    """
    end = _PREFIX + int.from_bytes(state[len(MAGIC) : _PREFIX], "little")
    content, digest = state[:end], state[end : end + _DIGEST]
    if content[: len(MAGIC)] != MAGIC or not hmac.compare_digest(
        hashlib.sha256(content).digest(), digest
    ):
        raise _violation("has another format, or was damaged")
    try:
        histogram = _read(content[_PREFIX:], mechanism, thresholds, domain, streams)
        whole = to_bytes(histogram) == state
    except (ValueError, TypeError, LookupError):
        # The cause could contain stored values.
        raise _violation("has a header that cannot be read") from None
    if not whole:
        raise _violation("is of another lattice or domain, or was written in another form")
    return histogram


def _read(
    content: bytes,
    mechanism: KeyNoise,
    thresholds: Thresholds,
    domain: Domain,
    streams: Callable[[], Stream],
) -> SparseHistogram:
    line, body = content.split(b"\n", 1)
    header = json.loads(line)
    keys, rungs = int(header["keys"]), [(int(rung), at) for rung, at in header["rungs"]]
    ranks = np.frombuffer(body[: 8 * keys], dtype="<u8").astype(np.uint64)
    values = np.frombuffer(body[8 * keys :], dtype="<i8").astype(np.int64)
    rows = values.reshape(len(rungs), keys)
    path = {rung: row.copy() for (rung, _), row in zip(rungs, rows, strict=True)}
    limits = {rung: int(at) for rung, at in rungs if at is not None}
    return SparseHistogram.restored(
        mechanism, thresholds, domain, ranks, path, limits, streams=streams
    )


def _violation(what: str) -> IntegrityViolation:
    return IntegrityViolation(
        f"This state of a histogram {what}. Nothing was drawn from it. Restore the newest whole"
        " copy: an older one would draw again the levels released since."
    )
