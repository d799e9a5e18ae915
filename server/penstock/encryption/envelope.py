"""Encrypt one record with authentication, bound to where the record belongs.

An envelope is ``version | alg | kek id | salt | nonce | ciphertext and tag``::

    1 byte   version     1
    1 byte   alg         1: AES-256-GCM under an HKDF-SHA256 subkey
    8 bytes  kek id      the public name of the key that seals it
    32 bytes salt        random
    12 bytes nonce       random
    n + 16   ciphertext  with its tag

The subkey is ``HKDF-SHA256(key, salt, info = AAD)``, one for every record, so that the number of
records under one key never comes near the limits of GCM.  The additional authenticated data are the
envelope's first ten bytes and the identity of the row: a record sealed for one row cannot be opened
as another.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from itertools import chain

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import AEADDecryptionContext, Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import GCM

from penstock.encryption.key import ID_SIZE, SIZE, Key, wipe
from penstock.errors import IntegrityViolation

VERSION = 1
ALGORITHM = 1
SALT_SIZE = 32
NONCE_SIZE = 12
TAG_SIZE = 16

_PREFIX_SIZE = 2 + ID_SIZE
_HEADER_SIZE = _PREFIX_SIZE + SALT_SIZE + NONCE_SIZE
OVERHEAD = _HEADER_SIZE + TAG_SIZE
"""The number of bytes that an envelope adds to its content."""

Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True, kw_only=True)
class RowIdentity:
    """Hold where a sealed record belongs; opening needs the same identity as sealing.

    ``dataset`` and ``query`` are names that never change (of a dataset with its version),
    ``level`` is a rung, ``length`` counts what ``type`` names; what a row does not have
    is None.
    """

    table: str
    dataset: str
    query: str | None = None
    level: int | None = None
    seq: int | None = None
    length: int
    type: str
    schema: int = 1

    def encode(self) -> bytes:
        """Return one byte string per identity: JSON with sorted keys, so that no two fields run
        together."""
        # Not ``asdict``, which copies every field: this runs for every key and every record.
        return json.dumps(
            vars(self), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        ).encode()


def seal(key: Key, plaintext: Buffer, identity: RowIdentity) -> bytes:
    """Return ``plaintext`` in an envelope that opens only under ``key`` and for ``identity``."""
    # In place: joining header and ciphertext costs more than the cipher.  ``getvalue`` hands over
    # the bytes that were written to, which neither a bytearray nor ``bytes`` does.
    envelope = BytesIO()
    envelope.seek(len(plaintext) + OVERHEAD - 1)
    envelope.write(b"\x00")
    with envelope.getbuffer() as view:
        seal_into(key, plaintext, identity, view)
    return envelope.getvalue()


def seal_into(key: Key, plaintext: Buffer, identity: RowIdentity, room: memoryview) -> None:
    """Encrypt into ``room``, which has ``OVERHEAD`` bytes more than ``plaintext``."""
    if room.nbytes != len(plaintext) + OVERHEAD:
        raise ValueError(f"the envelope of {len(plaintext)} bytes does not take {room.nbytes}")
    prefix = bytes((VERSION, ALGORITHM)) + key.id
    aad = prefix + identity.encode()
    salt = os.urandom(SALT_SIZE)
    nonce = os.urandom(NONCE_SIZE)
    subkey = bytearray(SIZE)
    try:
        key.subkey_into(subkey, salt, aad)
        cipher = Cipher(AES256(subkey), GCM(nonce)).encryptor()
    finally:
        wipe(subkey)
    cipher.authenticate_additional_data(aad)
    room[:_HEADER_SIZE] = prefix + salt + nonce
    written = cipher.update_into(plaintext, room[_HEADER_SIZE:])
    cipher.finalize()
    room[_HEADER_SIZE + written :] = cipher.tag


def seal_key(key: Key, secret: Key, identity: RowIdentity) -> bytes:
    """Return a key in an envelope, which ``open_key`` opens."""
    with secret.exposed() as material:
        return seal(key, material, identity)


def open_envelope(key: Key, envelope: Buffer, identity: RowIdentity) -> bytes:
    """Return the sealed plaintext.  Raises ``IntegrityViolation`` for any defect."""
    cipher, ciphertext = _opening(key, envelope, identity)
    plaintext = cipher.update(ciphertext)
    _authenticate(cipher, identity)
    return plaintext


def open_into(key: Key, envelope: Buffer, identity: RowIdentity, room: memoryview) -> int:
    """Decrypt into ``room`` and return the plaintext's size.  Raises as ``open_envelope``.

    ``room`` has ``TAG_SIZE`` bytes more than the plaintext, and holds nothing valid after an error.
    """
    cipher, ciphertext = _opening(key, envelope, identity)
    if room.nbytes < len(ciphertext) + TAG_SIZE:
        raise ValueError(f"no room for {len(ciphertext)} bytes and {TAG_SIZE} in {room.nbytes}")
    written: int = cipher.update_into(ciphertext, room)
    _authenticate(cipher, identity)
    return written


def open_pieces_into(
    key: Key, size: int, pieces: Iterable[Buffer], identity: RowIdentity, room: memoryview
) -> int:
    """Decrypt an envelope of ``size`` bytes that comes in pieces, as ``open_into`` does.

    The first piece has the header at least.
    """
    left = size - OVERHEAD
    if room.nbytes < left + TAG_SIZE:
        raise ValueError(f"no room for {left} bytes and {TAG_SIZE} in {room.nbytes}")
    coming = iter(pieces)
    first = memoryview(next(coming, b""))
    if left < 0 or len(first) < _HEADER_SIZE:
        raise broken(identity, "is cut short")
    cipher = _decryptor(key, first[:_HEADER_SIZE], identity)
    written, tag = 0, b""
    for piece in chain((first[_HEADER_SIZE:],), coming):
        view = memoryview(piece)
        part = view[:left]
        left -= len(part)
        written += cipher.update_into(part, room[written:])
        tag += view[len(part) :]
    if left or len(tag) != TAG_SIZE:
        raise broken(identity, "is cut short")
    _authenticate(cipher, identity, tag)
    return written


def open_key(key: Key, envelope: Buffer, identity: RowIdentity) -> Key:
    """Return the sealed key, without another copy in memory.  Raises as ``open_envelope``."""
    cipher, ciphertext = _opening(key, envelope, identity)
    buffer = bytearray(len(ciphertext) + TAG_SIZE)
    try:
        written = cipher.update_into(ciphertext, buffer)
        _authenticate(cipher, identity)
        if written != SIZE:
            raise broken(identity, "does not hold a key")
        with memoryview(buffer) as view:
            return Key(view[:SIZE])
    finally:
        wipe(buffer)


def _opening(
    key: Key, envelope: Buffer, identity: RowIdentity
) -> tuple[AEADDecryptionContext, memoryview]:
    """Return the cipher that opens an envelope, and the bytes to decrypt."""
    view = memoryview(envelope)
    if len(view) < OVERHEAD:
        raise broken(identity, "is cut short")
    cipher = _decryptor(key, view[:_HEADER_SIZE], identity, bytes(view[-TAG_SIZE:]))
    return cipher, view[_HEADER_SIZE:-TAG_SIZE]


def _decryptor(
    key: Key, header: memoryview, identity: RowIdentity, tag: bytes | None = None
) -> AEADDecryptionContext:
    """Return the cipher that opens the envelope with a header; its tag may come last."""
    prefix = bytes(header[:_PREFIX_SIZE])
    if prefix[0] != VERSION or prefix[1] != ALGORITHM:
        raise broken(identity, "has a format that is unknown to this version")
    if prefix[2:] != key.id:
        raise broken(identity, "is sealed under another key")
    salt = bytes(header[_PREFIX_SIZE : _PREFIX_SIZE + SALT_SIZE])
    nonce = bytes(header[_PREFIX_SIZE + SALT_SIZE :])
    aad = prefix + identity.encode()
    # Not the class AESGCM: it keeps copies of its key.
    subkey = bytearray(SIZE)
    try:
        key.subkey_into(subkey, salt, aad)
        cipher = Cipher(AES256(subkey), GCM(nonce, tag)).decryptor()
    finally:
        wipe(subkey)
    cipher.authenticate_additional_data(aad)
    return cipher


def _authenticate(
    cipher: AEADDecryptionContext, identity: RowIdentity, tag: bytes | None = None
) -> None:
    """Raise ``IntegrityViolation`` unless the tag fits the bytes that ``cipher`` decrypted."""
    try:
        if tag is None:
            cipher.finalize()
        else:
            cipher.finalize_with_tag(tag)
    except InvalidTag:
        raise broken(identity, "was altered or belongs to another row") from None


def key_id(envelope: Buffer) -> bytes:
    """Return the name of the key that an envelope claims to be sealed under; not verified."""
    return bytes(memoryview(envelope)[2:_PREFIX_SIZE])


def broken(identity: RowIdentity, what: str) -> IntegrityViolation:
    """Return the error for a record that does not authenticate under its identity."""
    return IntegrityViolation(
        f"A stored {identity.table} {what}. Nothing was drawn or served from it. Restore a"
        f" database and a key ring that belong together.",
        **vars(identity),
    )
