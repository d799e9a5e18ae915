"""Verify proofs of a log's Merkle tree by the algorithms of RFC 9162, section 2.1.

It uses the standard library only: auditors run it without any code of the server.
"""

import hashlib
from collections.abc import Iterable, Sequence

EMPTY = hashlib.sha256().digest()


def leaf_hash(content: bytes) -> bytes:
    """Return ``SHA256(0x00 | leaf)``."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return ``SHA256(0x01 | left | right)``."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(hashes: Iterable[bytes]) -> tuple[int, bytes]:
    """Return size and root of the tree over leaves with these hashes, in O(log n) memory."""
    stack: list[bytes] = []
    size = 0
    for hash_ in hashes:
        stack.append(hash_)
        size += 1
        for _ in range((size & -size).bit_length() - 1):
            right = stack.pop()
            stack.append(node_hash(stack.pop(), right))
    while len(stack) > 1:
        right = stack.pop()
        stack.append(node_hash(stack.pop(), right))
    return size, stack[0] if stack else EMPTY


def included(leaf: bytes, index: int, size: int, hashes: Sequence[bytes], root: bytes) -> bool:
    """Return True if an inclusion proof is valid (section 2.1.3.2).

    It proves that the leaf with this hash is number ``index`` of ``size`` leaves, counted from 0.
    """
    if not 0 <= index < size:
        return False
    at, last, node = index, size - 1, leaf
    for hash_ in hashes:
        if last == 0:
            return False
        if at & 1 or at == last:
            node = node_hash(hash_, node)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            node = node_hash(node, hash_)
        at, last = at >> 1, last >> 1
    return last == 0 and node == root


def consistent(
    old: int, new: int, old_root: bytes, new_root: bytes, hashes: Sequence[bytes]
) -> bool:
    """Return True if a consistency proof is valid (section 2.1.4.2).

    It proves that the tree of ``new`` leaves begins with the ``old`` leaves of the other root.
    """
    if not 0 < old <= new:
        return False
    if old == new:
        return not hashes and old_root == new_root
    path = list(hashes)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for node in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node_hash(node, before), node_hash(node, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, node)
        at, last = at >> 1, last >> 1
    return last == 0 and (before, after) == (old_root, new_root)
