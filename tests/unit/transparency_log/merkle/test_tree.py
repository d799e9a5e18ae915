"""Test the Merkle tree against RFC 9162's definitions and its implementations' vectors."""

import pytest
from tests.unit.transparency_log.merkle.trees import HASHES, LEAVES, NODES, OF_SIZE, ROOTS

from penstock.transparency_log import merkle
from penstock.transparency_log.merkle import Frontier
from penstock_client._log import tree as elsewhere


@pytest.mark.parametrize("size", range(1, len(LEAVES) + 1))
def test_roots_are_those_of_other_implementations(size: int) -> None:
    hashes = [merkle.leaf_hash(leaf) for leaf in LEAVES[:size]]
    frontier = Frontier()
    for one in hashes:
        frontier.add(one)
    assert frontier.root.hex() == ROOTS[size - 1]
    assert elsewhere.root_of(hashes) == (size, frontier.root)


def test_a_tree_grows_to_the_root_that_is_defined() -> None:
    frontier = Frontier()
    assert frontier.root == merkle.EMPTY == OF_SIZE[0] == elsewhere.root_of([])[1]
    for size, one in enumerate(HASHES, start=1):
        frontier.add(one)
        assert (frontier.size, frontier.root) == (size, OF_SIZE[size])
        resumed = Frontier(size, [NODES[node] for node in merkle.peaks(0, size)])
        assert resumed.root == OF_SIZE[size]
        assert elsewhere.root_of(HASHES[:size]) == (size, OF_SIZE[size])


def test_a_copy_grows_by_itself() -> None:
    frontier = Frontier()
    for size, digest in enumerate(HASHES, start=1):
        copied = frontier.copy()
        assert copied.root == frontier.root == OF_SIZE[size - 1]
        copied.add(digest)
        assert (copied.root, frontier.root) == (OF_SIZE[size], OF_SIZE[size - 1])
        frontier = copied


def test_what_no_tree_has_is_refused() -> None:
    for index, size in ((0, 0), (3, 3), (-1, 3)):
        with pytest.raises(ValueError, match="has no leaf"):
            merkle.inclusion_spans(index, size)
    for old, new in ((0, 3), (4, 3)):
        with pytest.raises(ValueError, match="does not begin"):
            merkle.consistency_spans(old, new)
    with pytest.raises(ValueError, match="complete subtrees"):
        Frontier(3, [HASHES[0]])
