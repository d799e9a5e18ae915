"""Seal integer vectors in envelopes: 64-bit little-endian, their length authenticated.

Sealing reads the array in place, and opening decrypts into the array that it returns: neither
copies, and what comes back is its caller's own, to be written to as well.
"""

from collections.abc import Callable, Iterable

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
    seal_into,
)
from penstock.encryption.key import Key
from penstock.errors import IntegrityViolation

TYPE = "int64"
"""``RowIdentity.type`` of a vector."""


def seal_vector(key: Key, values: NDArray[np.int64], identity: RowIdentity) -> bytes:
    """Return ``values``, of shape ``(identity.length,)``, in an envelope.

    Raises ``ValueError`` if shape or type are not what ``identity`` says.
    """
    return seal(key, _plaintext(values, identity), identity)


def seal_vector_into(
    key: Key, values: NDArray[np.int64], identity: RowIdentity, room: NDArray[np.uint8]
) -> None:
    """Seal ``values`` into ``room``, which has the size of their envelope.

    Raises as ``seal_vector`` does.
    """
    seal_into(key, _plaintext(values, identity), identity, room.data)


def open_vector(
    key: Key,
    envelope: Buffer,
    identity: RowIdentity,
    room_of: Callable[[int], NDArray[np.uint8]] | None = None,
) -> NDArray[np.int64]:
    """Return the vector, of shape ``(identity.length,)``.

    It is decrypted into what ``room_of`` returns for a number of bytes, by default a new array.
    Raises ``IntegrityViolation`` if the envelope is not that of this row.
    """
    room = (room_of or _new)(_room_size(len(envelope)))
    return _vector(room, open_into(key, envelope, identity, room.data), identity)


def open_vector_in_pieces(
    key: Key, size: int, pieces: Iterable[Buffer], identity: RowIdentity
) -> NDArray[np.int64]:
    """Return the vector of an envelope of ``size`` bytes, which never exists as a whole.

    Raises as ``open_vector`` does.
    """
    room = _new(_room_size(size))
    return _vector(room, open_pieces_into(key, size, pieces, identity, room.data), identity)


def _plaintext(values: NDArray[np.int64], identity: RowIdentity) -> memoryview:
    if identity.type != TYPE or values.dtype != np.int64:
        raise ValueError(f"a vector is of type {TYPE}")
    if values.shape != (identity.length,):
        raise ValueError(f"the identity says {identity.length} values, not {values.shape}")
    return np.ascontiguousarray(values, dtype="<i8").data.cast("B")


def _room_size(size: int) -> int:
    # As large as what came, not as what is due: only the tag says what is wrong with it.
    return max(0, size - OVERHEAD) + TAG_SIZE


def _new(size: int) -> NDArray[np.uint8]:
    return np.empty(size, dtype=np.uint8)


def _vector(room: NDArray[np.uint8], size: int, identity: RowIdentity) -> NDArray[np.int64]:
    if identity.type != TYPE or size != 8 * identity.length:
        raise IntegrityViolation(
            f"A stored {identity.table} does not hold {identity.length} values of type {TYPE}."
            " Restore the database from a backup."
        )
    return room[:size].view("<i8").astype(np.int64, copy=False)
