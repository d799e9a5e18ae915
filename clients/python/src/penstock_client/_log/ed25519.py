"""Verify Ed25519 signatures: with ``cryptography`` if it is installed, else by hand.

By hand means RFC 8032, sections 5.1 and 6, in Python's integers, with the standard library alone.
It signs nothing and handles no secret, so it need not run in constant time.
"""

import hashlib

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]
"""Extended homogeneous coordinates (X, Y, Z, T) of section 5.1.4."""


def verified(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return True if ``signature`` (64 bytes) of ``message`` is by ``public`` (32 bytes)."""
    if len(public) != 32 or len(signature) != 64:
        return False
    try:
        return _verified_by_library(public, message, signature)
    except ImportError:
        return verified_by_hand(public, message, signature)


def _verified_by_library(public: bytes, message: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def verified_by_hand(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return what ``verified`` returns, by RFC 8032, section 5.1.7, without a library."""
    key, commitment = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    return _equal(_times(scalar, _BASE), _sum(commitment, _times(challenge, key)))


def _x(y: int, sign: int) -> int | None:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


def _point(encoded: bytes) -> Point | None:
    number = int.from_bytes(encoded, "little")
    y = number & ((1 << 255) - 1)
    x = _x(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % _P)


def _sum(point: Point, other: Point) -> Point:
    a = (point[1] - point[0]) * (other[1] - other[0]) % _P
    b = (point[1] + point[0]) * (other[1] + other[0]) % _P
    c = 2 * point[3] * other[3] * _D % _P
    d = 2 * point[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: Point) -> Point:
    product: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            product = _sum(product, point)
        point, scalar = _sum(point, point), scalar >> 1
    return product


def _equal(point: Point, other: Point) -> bool:
    x = (point[0] * other[2] - other[0] * point[2]) % _P
    y = (point[1] * other[2] - other[1] * point[2]) % _P
    return not x and not y


def _base() -> Point:
    y = 4 * pow(5, _P - 2, _P) % _P
    x = _x(y, 0) or 0
    return x, y, 1, x * y % _P


_BASE = _base()
