"""Verify proofs of inclusion and consistency, by the tree's recursive definition.

Clients and auditors verify proofs with separate code (``penstock_client._log.tree``), which follows
the iterative algorithms of RFC 9162; this module follows its recursive definitions, and tests
compare the two.
"""

from collections.abc import Sequence

from penstock.transparency_log.merkle.tree import node_hash, split


def included(leaf: bytes, index: int, size: int, hashes: Sequence[bytes], root: bytes) -> bool:
    """Return True if ``hashes`` prove a leaf's hash at ``index`` of ``size`` under ``root``.

    Returns False for anything else, of any form.
    """
    if not 0 <= index < size:
        return False
    left = list(hashes)
    try:
        root_climbed = _climbed(leaf, index, size, left)
    except IndexError:
        return False
    return not left and root_climbed == root


def consistent(
    old: int, new: int, old_root: bytes, new_root: bytes, hashes: Sequence[bytes]
) -> bool:
    """Return True if ``hashes`` prove that the tree of ``new`` leaves begins with the ``old``."""
    if not 0 < old <= new:
        return False
    left = list(hashes)
    try:
        rebuilt = _rebuilt(old, new, old_root, left, whole=True)
    except IndexError:
        return False
    return not left and rebuilt == (old_root, new_root)


def _climbed(leaf: bytes, index: int, size: int, left: list[bytes]) -> bytes:
    if size == 1:
        return leaf
    other, middle = left.pop(), split(size)
    if index < middle:
        return node_hash(_climbed(leaf, index, middle, left), other)
    return node_hash(other, _climbed(leaf, index - middle, size - middle, left))


def _rebuilt(
    old: int, new: int, root: bytes, left: list[bytes], *, whole: bool
) -> tuple[bytes, bytes]:
    """Return the roots of the first ``old`` leaves and of all ``new`` ones."""
    if old == new:
        same = root if whole else left.pop()
        return same, same
    other, middle = left.pop(), split(new)
    if old <= middle:
        before, after = _rebuilt(old, middle, root, left, whole=whole)
        return before, node_hash(after, other)
    before, after = _rebuilt(old - middle, new - middle, root, left, whole=False)
    return node_hash(other, before), node_hash(other, after)
