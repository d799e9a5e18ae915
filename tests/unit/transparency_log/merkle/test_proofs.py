"""Test inclusion and consistency proofs against RFC 9162 and its implementations' vectors."""

from collections.abc import Callable, Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.transparency_log.merkle.trees import (
    HASHES,
    LARGEST,
    LEAVES,
    NODES,
    OF_SIZE,
    ROOTS,
    grown,
)

from penstock.transparency_log import merkle
from penstock.transparency_log.merkle import Node
from penstock_client._log import tree as elsewhere

Included = Callable[[bytes, int, int, Sequence[bytes], bytes], bool]


Consistent = Callable[[int, int, bytes, bytes, Sequence[bytes]], bool]


INCLUDED = pytest.mark.parametrize("included", [merkle.included, elsewhere.included])


CONSISTENT = pytest.mark.parametrize("consistent", [merkle.consistent, elsewhere.consistent])


def read(asked: Collection[Node]) -> Mapping[Node, bytes]:
    return {node: NODES[node] for node in asked}


def inclusion(index: int, size: int) -> list[bytes]:
    return merkle.hashes_of(merkle.inclusion_spans(index, size), read)


def consistency(old: int, new: int) -> list[bytes]:
    return merkle.hashes_of(merkle.consistency_spans(old, new), read)


# Hashes that are parts of the proofs which the same implementations are tested with.
A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"


B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"


C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"


D = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"


E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"


F = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"


FIRST, TWO, FOUR = ROOTS[0], ROOTS[1], ROOTS[3]


@pytest.mark.parametrize(
    ("index", "size", "path"),
    [(0, 8, [A, B, C]), (5, 8, [D, E, FOUR]), (2, 3, [TWO]), (1, 5, [FIRST, B, D]), (0, 1, [])],
)
@INCLUDED
def test_inclusion_is_proven_as_elsewhere(
    included: Included, index: int, size: int, path: list[str]
) -> None:
    leaf, root = merkle.leaf_hash(LEAVES[index]), bytes.fromhex(ROOTS[size - 1])
    assert included(leaf, index, size, [bytes.fromhex(one) for one in path], root)
    nodes = grown([merkle.leaf_hash(one) for one in LEAVES])
    spans = merkle.inclusion_spans(index, size)
    found = merkle.hashes_of(spans, lambda asked: {node: nodes[node] for node in asked})
    assert [one.hex() for one in found] == path


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [(1, 8, [A, B, C]), (6, 8, [F, E, FOUR]), (2, 5, [B, D]), (1, 1, []), (8, 8, [])],
)
@CONSISTENT
def test_consistency_is_proven_as_elsewhere(
    consistent: Consistent, old: int, new: int, path: list[str]
) -> None:
    before, after = (bytes.fromhex(ROOTS[size - 1]) for size in (old, new))
    assert consistent(old, new, before, after, [bytes.fromhex(one) for one in path])
    nodes = grown([merkle.leaf_hash(one) for one in LEAVES])
    spans = merkle.consistency_spans(old, new)
    found = merkle.hashes_of(spans, lambda asked: {node: nodes[node] for node in asked})
    assert [one.hex() for one in found] == path


def test_the_proofs_are_those_of_the_rfcs_example() -> None:
    """The tree of seven leaves of section 2.1.5, in its letters."""
    nodes = grown(HASHES[:7])
    a, b, c, d, e, f, j = (HASHES[number] for number in range(7))
    g, h, i = (merkle.node_hash(*pair) for pair in ((a, b), (c, d), (e, f)))
    k, last = merkle.node_hash(g, h), merkle.node_hash(i, j)
    assert nodes[2, 0] == k
    assert inclusion(0, 7) == [b, h, last]
    assert inclusion(3, 7) == [c, g, last]
    assert inclusion(4, 7) == [f, j, k]
    assert inclusion(6, 7) == [i, k]
    assert consistency(3, 7) == [c, d, g, last]
    assert consistency(4, 7) == [last]
    assert consistency(6, 7) == [i, j, k]


@INCLUDED
def test_every_leaf_of_every_small_tree_is_proven(included: Included) -> None:
    for size in range(1, LARGEST + 1):
        for index in range(size):
            proof = inclusion(index, size)
            assert included(HASHES[index], index, size, proof, OF_SIZE[size])
            assert len(proof) <= (size - 1).bit_length()


@CONSISTENT
def test_every_pair_of_small_trees_is_proven_consistent(consistent: Consistent) -> None:
    for new in range(1, LARGEST + 1):
        for old in range(1, new + 1):
            assert consistent(old, new, OF_SIZE[old], OF_SIZE[new], consistency(old, new))


def mutations(proof: list[bytes]) -> list[list[bytes]]:
    """Return altered proofs: each hash with a bit flipped, left out, or doubled.

    In others two are swapped, or one is appended.
    """
    found = [[*proof, HASHES[0]], [HASHES[0], *proof]]
    for place, one in enumerate(proof):
        flipped = bytes([one[0] ^ 1, *one[1:]])
        found += [
            [*proof[:place], flipped, *proof[place + 1 :]],
            [*proof[:place], *proof[place + 1 :]],
            [*proof[:place], one, *proof[place:]],
        ]
        if place:
            swapped = [*proof]
            swapped[place - 1 : place + 1] = proof[place], proof[place - 1]
            found.append(swapped)
    return found


@INCLUDED
def test_no_other_proof_of_a_leaf_is_taken(included: Included) -> None:
    for size in (1, 2, 3, 7, 8, 21, 33):
        for index in range(size):
            proof, root = inclusion(index, size), OF_SIZE[size]
            for mutated in mutations(proof):
                assert not included(HASHES[index], index, size, mutated, root)
            assert not included(HASHES[(index + 1) % LARGEST], index, size, proof, root)
            assert not included(HASHES[index], index, size, proof, OF_SIZE[size - 1])
            for other in {*range(-1, size + 1)} - {index}:
                assert not included(HASHES[index], other, size, proof, root)


@CONSISTENT
def test_no_other_proof_of_consistency_is_taken(consistent: Consistent) -> None:
    for new in (2, 3, 7, 8, 21, 33):
        for old in range(1, new):
            proof = consistency(old, new)
            for mutated in mutations(proof):
                assert not consistent(old, new, OF_SIZE[old], OF_SIZE[new], mutated)
            for wrong in (old - 1, old + 1):
                assert not consistent(old, new, OF_SIZE[wrong], OF_SIZE[new], proof)
                assert not consistent(wrong, new, OF_SIZE[old], OF_SIZE[new], proof)
            assert not consistent(new, old, OF_SIZE[new], OF_SIZE[old], proof)
        assert not consistent(new, new, OF_SIZE[new], OF_SIZE[new - 1], [])
        assert not consistent(new, new, OF_SIZE[new], OF_SIZE[new], [HASHES[0]])
        assert not consistent(0, new, OF_SIZE[0], OF_SIZE[new], [])


@given(st.integers(0, 2**40), st.integers(1, 2**20), st.data())
def test_a_proof_in_a_large_tree_reads_few_nodes(
    start: int, more: int, data: st.DataObject
) -> None:
    size = start + more
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(1, size))
    for spans in (merkle.inclusion_spans(index, size), merkle.consistency_spans(old, size)):
        nodes = {node for span in spans for node in merkle.peaks(*span)}
        assert len(nodes) <= 2 * size.bit_length()
        assert all((position + 1) << level <= size for level, position in nodes)
