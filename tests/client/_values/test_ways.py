"""Test that the nodes of running totals are those of the server's own trees."""

import math

import pytest

from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import chain
from penstock.structures.streams.kary import KaryTree
from penstock.structures.streams.smooth_binary import SmoothBinary
from penstock_client import CovarianceUnknown
from penstock_client._http.fields import Fields
from penstock_client._values.ways import way_of, weight_of

STEPS = 200


@pytest.mark.parametrize(
    ("k", "subtracting"),
    [(2, False), *((k, either) for k in (3, 4, 7, 18) for either in (False, True))],
)
def test_nodes_of_a_tree_are_the_servers(k: int, subtracting: bool) -> None:
    tree = KaryTree(STEPS, k, subtracting)
    structure = {"kind": "kary", "k": k, "subtracting": subtracting}
    way = way_of(Fields(structure, "structure"), STEPS)
    for step in range(1, STEPS + 1):
        assert way(step) == set(chain(tree, tree.node(step)))


@pytest.mark.parametrize(("height", "zeros"), [(10, 5), (11, 4), (12, 3)])
def test_nodes_of_a_smooth_tree_are_the_servers(height: int, zeros: int) -> None:
    tree = SmoothBinary(STEPS, height, zeros)
    assert math.comb(height, zeros) > STEPS
    structure = {"kind": "smooth_binary", "height": height, "zeros": zeros}
    way = way_of(Fields(structure, "structure"), STEPS)
    for step in range(1, STEPS + 1):
        assert way(step) == set(chain(tree, tree.node(step)))


@pytest.mark.parametrize(
    ("k", "subtracting"),
    [(2, False), (2, True), *((k, either) for k in (3, 4, 7) for either in (False, True))],
)
def test_nodes_without_an_end_are_the_servers_with_their_weights(k: int, subtracting: bool) -> None:
    epochs = Epochs(k, subtracting=subtracting)
    structure = Fields({"kind": "epochs", "k": k, "subtracting": subtracting}, "structure")
    way, weight = way_of(structure, None), weight_of(structure)
    for step in (*range(1, 10 * STEPS), 1 << 40, (1 << 41) - 1, 5**17):
        nodes = set(chain(epochs, epochs.node(step)))
        assert way(step) == nodes
        assert {node: weight(node) for node in nodes} == {n: epochs.weight(n) for n in nodes}


def test_nodes_of_streams_with_an_end_have_no_weights() -> None:
    assert weight_of(Fields({"kind": "kary", "k": 3}, "structure"))(5) == 1


def test_nodes_of_another_structure_are_not_known() -> None:
    with pytest.raises(CovarianceUnknown, match="square_root"):
        way_of(Fields({"kind": "square_root"}, "structure"), STEPS)
    with pytest.raises(CovarianceUnknown):
        way_of(Fields({"kind": "kary", "k": 2}, "structure"), None)
