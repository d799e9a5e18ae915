"""Test proofs of a Merkle tree, for every leaf of small trees and every change of one hash."""

import hashlib

import pytest
from tests.client.servers.hosts import old_spans, spans

from penstock_client._log.tree import EMPTY, consistent, included, leaf_hash, node_hash, root_of

LARGEST = 17
LEAVES = [leaf_hash(bytes([number])) for number in range(LARGEST)]


def root(first: int, end: int) -> bytes:
    return root_of(LEAVES[first:end])[1]


def test_roots_are_those_of_the_standard() -> None:
    assert root_of([]) == (0, EMPTY)
    assert leaf_hash(b"a") == hashlib.sha256(b"\x00a").digest()
    a, b, c = LEAVES[:3]
    assert root_of([a, b, c]) == (3, node_hash(node_hash(a, b), c))


@pytest.mark.parametrize("size", range(1, LARGEST + 1))
def test_every_leaf_is_proven_at_its_place_alone(size: int) -> None:
    for index in range(size):
        path = [root(*span) for span in spans(index, 0, size)]
        places = [
            place
            for place in range(-1, size + 1)
            if included(LEAVES[index], place, size, path, root(0, size))
        ]
        assert places == [index]
        assert not included(LEAVES[index], index, size, [*path, EMPTY], root(0, size))


@pytest.mark.parametrize("new", range(1, LARGEST + 1))
def test_every_beginning_is_proven_and_no_other(new: int) -> None:
    for old in range(1, new + 1):
        path = [root(*span) for span in old_spans(old, 0, new, whole=True)]
        assert consistent(old, new, root(0, old), root(0, new), path)
        assert not consistent(old, new, EMPTY, root(0, new), path)
        assert not consistent(old, new, root(0, old), EMPTY, path)
        for place in range(len(path)):
            broken = [*path[:place], EMPTY, *path[place + 1 :]]
            assert not consistent(old, new, root(0, old), root(0, new), broken)


@pytest.mark.parametrize(("old", "new"), [(0, 3), (4, 3), (-1, 3)])
def test_no_beginning_is_longer_than_the_tree_or_empty(old: int, new: int) -> None:
    assert not consistent(old, new, root(0, max(old, 0)), root(0, new), [])
