"""Seal integer vectors in envelopes: 64-bit little-endian, their length authenticated.

Sealing reads the array in place, and opening decrypts into the array that it returns: neither
copies, and what comes back is its caller's own, to be written to as well.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from penstock.encryption.envelope import (
    OVERHEAD,
    TAG_SIZE,
    Buffer,
    RowIdentity,
    open_into,
    open_pieces_into,
    seal,
)
from penstock.encryption.key import Key
from penstock.errors import IntegrityViolation

TYPE = "int64"
"""``RowIdentity.type`` of a vector."""


def seal_vector(key: Key, values: NDArray[np.int64], identity: RowIdentity) -> bytes:
    """Return ``values``, of shape ``(identity.length,)``, in an envelope.

    Raises ``ValueError`` if shape or type are not what ``identity`` says.
    """
    if identity.type != TYPE or values.dtype != np.int64:
        raise ValueError(f"a vector is of type {TYPE}")
    if values.shape != (identity.length,):
        raise ValueError(f"the identity says {identity.length} values, not {values.shape}")
    little_endian = np.ascontiguousarray(values, dtype="<i8")
    return seal(key, little_endian.data.cast("B"), identity)


def open_vector(key: Key, envelope: bytes, identity: RowIdentity) -> NDArray[np.int64]:
    """Return the vector, of shape ``(identity.length,)``.

    Raises ``IntegrityViolation`` if the envelope is not that of this row.
    """
    room = _room(len(envelope))
    return _vector(room, open_into(key, envelope, identity, room.data), identity)


def open_vector_in_pieces(
    key: Key, size: int, pieces: Iterable[Buffer], identity: RowIdentity
) -> NDArray[np.int64]:
    """Return the vector of an envelope of ``size`` bytes, which never exists as a whole.

    Raises as ``open_vector`` does.
    """
    room = _room(size)
    return _vector(room, open_pieces_into(key, size, pieces, identity, room.data), identity)


def _room(size: int) -> NDArray[np.uint8]:
    # As large as what came, not as what is due: only the tag says what is wrong with it.
    return np.empty(max(0, size - OVERHEAD) + TAG_SIZE, dtype=np.uint8)


def _vector(room: NDArray[np.uint8], size: int, identity: RowIdentity) -> NDArray[np.int64]:
    if identity.type != TYPE or size != 8 * identity.length:
        raise IntegrityViolation(
            f"A stored {identity.table} does not hold {identity.length} values of type {TYPE}."
            " Restore the database from a backup."
        )
    return room[:size].view("<i8").astype(np.int64, copy=False)
