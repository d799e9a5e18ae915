"""Hash a Merkle tree, and list the hashes of a proof (RFC 9162, section 2.1).

A *node* is a complete subtree: ``(height, position)`` covers the ``2^height`` leaves from
``position * 2^height`` on.  A *span* is a run of leaves that is one subtree of the whole
tree, complete or at its right edge: it begins at a multiple of a power of two that is not
below its length.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Node = tuple[int, int]
Span = tuple[int, int]
"""The first leaf, and the one after the last."""

Reader = Callable[[Collection[Node]], Mapping[Node, bytes]]
"""A function that looks up the hashes of nodes, all of one proof at once."""

EMPTY = hashlib.sha256().digest()
"""The root of a tree without leaves."""


def leaf_hash(content: bytes) -> bytes:
    """Return ``SHA256(0x00 | leaf)``: 32 bytes."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return ``SHA256(0x01 | left | right)``: 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def split(size: int) -> int:
    """Return the largest power of two below ``size``, above 1: the left subtree's leaves."""
    return 1 << ((size - 1).bit_length() - 1)


def peaks(first: int, end: int) -> list[Node]:
    """Return the complete subtrees that a span is made of, from left to right."""
    nodes = []
    while first < end:
        height = (end - first).bit_length() - 1
        nodes.append((height, first >> height))
        first += 1 << height
    return nodes


def joined(hashes: Sequence[bytes]) -> bytes:
    """Return the hash of a span from those of its complete subtrees."""
    if not hashes:
        return EMPTY
    root = hashes[-1]
    for left in reversed(hashes[:-1]):
        root = node_hash(left, root)
    return root


class Frontier:
    """Hold the right edge of a tree of ``size`` leaves: the hashes of its complete subtrees.

    Raises ``ValueError`` if the number of hashes does not fit the size.
    """

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size = size
        self._hashes = list(hashes)
        self._root: bytes | None = None
        if len(self._hashes) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees")

    def copy(self) -> "Frontier":
        """Return the same edge, to add leaves to without changing this one."""
        copied = Frontier(self.size, self._hashes)
        copied._root = self._root
        return copied

    def add(self, leaf: bytes) -> list[tuple[Node, bytes]]:
        """Add a leaf by its hash; return the inner nodes that this completes, the lowest first."""
        completed = []
        height, position = 0, self.size
        self._hashes.append(leaf)
        self.size, self._root = self.size + 1, None
        while position % 2:
            right, left = self._hashes.pop(), self._hashes.pop()
            height, position = height + 1, position // 2
            self._hashes.append(node_hash(left, right))
            completed.append(((height, position), self._hashes[-1]))
        return completed

    @property
    def root(self) -> bytes:
        """Return the hash of the whole tree, computed once for each leaf that is added."""
        if self._root is None:
            self._root = joined(self._hashes)
        return self._root


def inclusion_spans(index: int, size: int) -> list[Span]:
    """Return the spans of the proof that leaf ``index`` is in a tree of ``size``, the lowest first.

    Section 2.1.3.1.  Raises ``ValueError`` for a leaf that the tree does not have.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    return _path(index, 0, size)


def consistency_spans(old: int, new: int) -> list[Span]:
    """Return the spans of the proof that a tree of ``new`` leaves begins with one of ``old``.

    Section 2.1.4.1.  Raises ``ValueError`` unless ``0 < old <= new``.
    """
    if not 0 < old <= new:
        raise ValueError(f"a tree of {new} leaves does not begin with one of {old}")
    return _subproof(old, 0, new, whole=True)


def hashes_of(spans: Sequence[Span], read: Reader) -> list[bytes]:
    """Return the hashes of ``spans``, from O(log n) nodes."""
    parts = [peaks(*span) for span in spans]
    hashes = read({node for nodes in parts for node in nodes})
    return [joined([hashes[node] for node in nodes]) for nodes in parts]


def _path(index: int, first: int, end: int) -> list[Span]:
    if end - first == 1:
        return []
    middle = first + split(end - first)
    if index < middle:
        return [*_path(index, first, middle), (middle, end)]
    return [*_path(index, middle, end), (first, middle)]


def _subproof(old: int, first: int, end: int, *, whole: bool) -> list[Span]:
    if old == end:
        return [] if whole else [(first, end)]
    middle = first + split(end - first)
    if old <= middle:
        return [*_subproof(old, first, middle, whole=whole), (middle, end)]
    return [*_subproof(old, middle, end, whole=False), (first, middle)]
