"""Encode a multiple release as bytes that its owner seals, keeps and resumes from.

The format, in which nothing is ever executed and numbers are little-endian::

    8 bytes   ``PENSTOCK``
    2 bytes   version, 1
    4 bytes   length of the header
    header    JSON in ASCII with sorted keys and no spaces: mechanism, granularity,
              ladder, rungs, size, fingerprint
    releases  size * 8 bytes each, signed, in lattice steps, the values first and then the
              mechanism's other parts; in the order of the rungs, the most accurate first
    32 bytes  SHA-256 of all bytes before it

Each state has exactly one encoding, and all other bytes are refused.  The digest detects
damage, not forgery: whoever can forge a state can forge its digest too, so a seal around both
(``penstock.encryption.seal``) must protect them.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from penstock.errors import IntegrityViolation
from penstock.mechanisms.process import IntVector
from penstock.nesting import shallow
from penstock.privacy.level import Ladder

MAGIC: Final = b"PENSTOCK"
VERSION: Final = 1

_PREFIX = len(MAGIC) + 2 + 4
_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True)
class State:
    """Hold all that further releases are drawn from; no exact value is in it.

    ``path`` holds the releases by their rungs, each of shape ``(size,)`` in lattice steps,
    ``size`` being the number of values times that of the mechanism's parts.
    """

    mechanism: str
    granularity: Fraction
    ladder: Ladder
    path: Mapping[int, IntVector]
    fingerprint: bytes | None


def encode(state: State) -> bytes:
    """Return the one encoding of ``state``."""
    rungs = sorted(state.path)
    header = json.dumps(
        {
            "mechanism": state.mechanism,
            "granularity": str(state.granularity),
            "ladder": asdict(state.ladder) | {"unit": str(state.ladder.unit)},
            "rungs": rungs,
            "size": len(state.path[rungs[0]]),
            "fingerprint": None if state.fingerprint is None else state.fingerprint.hex(),
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    parts = [MAGIC, VERSION.to_bytes(2, "little"), len(header).to_bytes(4, "little"), header]
    parts += [state.path[rung].astype("<i8").tobytes() for rung in rungs]
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def decode(encoded: bytes) -> State:
    """Return the encoded state.  Raises ``IntegrityViolation`` for anything invalid."""
    content, digest = encoded[:-_DIGEST], encoded[-_DIGEST:]
    if len(content) < _PREFIX or content[: len(MAGIC)] != MAGIC:
        raise _violation("does not begin as a state does, or is truncated")
    version = int.from_bytes(content[len(MAGIC) :][:2], "little")
    if version != VERSION:
        raise _violation(f"has format {version}, and this version of Penstock reads only {VERSION}")
    if not hmac.compare_digest(hashlib.sha256(content).digest(), digest):
        raise _violation("was damaged: its digest does not match")
    try:
        state = _read(content)
        whole = encode(state) == encoded and _is_a_path(state)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        # The cause could contain stored values.
        raise _violation("has a header that is not valid") from None
    if not whole:
        raise _violation("is not encoded as this version writes it")
    return state


def _read(content: bytes) -> State:
    end = _PREFIX + int.from_bytes(content[_PREFIX - 4 : _PREFIX], "little")
    header = json.loads(shallow(content[_PREFIX:end].decode()))
    ladder, size = header["ladder"], int(header["size"])
    rungs = [int(rung) for rung in header["rungs"]]
    values = np.frombuffer(content[end:], dtype="<i8").astype(np.int64)
    releases = values.reshape(len(rungs), size)
    fingerprint = header["fingerprint"]
    return State(
        mechanism=str(header["mechanism"]),
        granularity=Fraction(header["granularity"]),
        ladder=Ladder(
            finest=int(ladder["finest"]),
            unit=Fraction(ladder["unit"]),
            last=int(ladder["last"]),
            doubling=int(ladder["doubling"]),
        ),
        path=dict(zip(rungs, releases, strict=True)),
        fingerprint=None if fingerprint is None else bytes.fromhex(fingerprint),
    )


def _is_a_path(state: State) -> bool:
    """Return True if the rungs are on a ladder, in their order, and hold values."""
    ladder, rungs = state.ladder, list(state.path)
    positive = all(number > 0 for number in (ladder.finest, ladder.unit, ladder.doubling))
    increasing = all(low < high for low, high in pairwise(rungs))
    within = rungs[0] >= 0 and rungs[-1] <= ladder.last
    return positive and increasing and within and len(state.path[rungs[0]]) > 0


def _violation(what: str) -> IntegrityViolation:
    return IntegrityViolation(
        f"This state of a multiple release {what}. Nothing was drawn from it. Take the newest"
        " whole copy: an older one would draw levels again that were handed out since."
    )
