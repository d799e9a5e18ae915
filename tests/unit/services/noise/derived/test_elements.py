"""Test the noise of elements against matrices, and that the client computes the same."""

import json
import math
from typing import Any

import numpy as np
import pytest
from tests.client.servers.answers import STREAM
from tests.unit.services.noise.derived.released import NORMAL, read_totals, totals_of

from penstock.services.noise.derived.elements import Element, elements
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import Forest, chain, matrices, variance_weight
from penstock.structures.streams.kary import KaryTree
from penstock.structures.streams.smooth_binary import SmoothBinary
from penstock_client import Stream
from penstock_client._http.fields import Fields
from penstock_client.derived import daily

LENGTH = 40
TREES: list[tuple[dict[str, Any], Forest]] = [
    ({"kind": "kary", "k": 2, "subtracting": False}, KaryTree(LENGTH, 2, subtracting=False)),
    ({"kind": "kary", "k": 5, "subtracting": True}, KaryTree(LENGTH, 5)),
    ({"kind": "smooth_binary", "height": 8, "zeros": 4}, SmoothBinary(LENGTH, 8, 4)),
    ({"kind": "epochs", "k": 2, "subtracting": True}, Epochs(2)),
    ({"kind": "epochs", "k": 4, "subtracting": True}, Epochs(4)),
]


def assert_daily(ours: list[Element], totals: Any, structure: Any, length: int | None) -> None:
    """Assert that the client has the same elements of the same totals."""
    answer = {**STREAM, "length": length, "structure": structure}
    stream = Stream.read(Fields(json.loads(json.dumps(answer)), "stream"))
    theirs = daily(read_totals(totals), stream)
    assert theirs.keys == tuple(element.step for element in ours)
    for element, other in zip(ours, theirs, strict=True):
        assert element.values.tolist() == [pytest.approx(other.value)]
        assert element.standard_deviation == pytest.approx(other.standard_deviation, rel=1e-6)
        assert element.half_width == pytest.approx(other.upper - other.value, rel=1e-6)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
@pytest.mark.parametrize(("structure", "forest"), TREES)
def test_elements_of_a_tree_have_the_noise_that_two_totals_do_not_share(
    structure: dict[str, Any], forest: Forest, mechanism: str
) -> None:
    power = 1 if mechanism == "gaussian" else 2
    decoder, _ = matrices(forest, LENGTH)
    used = sorted({node for t in range(1, LENGTH + 1) for node in chain(forest, forest.node(t))})
    variances = 9 * np.array([float(forest.weight(node)) ** power for node in used])
    exact = np.sqrt(np.square(np.diff(decoder, axis=0, prepend=0)) @ variances)
    deviations = [
        3 * math.sqrt(variance_weight(forest, t, squared=power == 2)) for t in range(1, LENGTH + 1)
    ]
    totals = totals_of(structure, deviations, mechanism=mechanism)
    made = elements(totals, forest.length)
    assert [each.step for each in made.items] == list(range(1, LENGTH + 1))
    assert [each.standard_deviation for each in made.items] == pytest.approx(exact.tolist())
    assert made.items[3].values.tolist() == [30.0]
    assert made.law.startswith(
        "The interval is exact" if power == 1 else "The interval is conservative"
    )
    assert_daily(list(made.items), totals, structure, forest.length)


@pytest.mark.parametrize("kind", ["square_root", "buffered", "endless"])
def test_elements_of_a_series_have_the_noise_that_the_client_computes(kind: str) -> None:
    length = None if kind == "endless" else LENGTH
    structure = {"kind": "square_root" if kind == "square_root" else "buffered"}
    matrix = encoder(length)
    weights = list(map(float, matrix.weights)), list(map(float, matrix.kept))
    buffers = None if kind == "square_root" else weights
    totals = totals_of(structure, [3.0] * LENGTH, buffers=buffers, granularity=0.5)
    made = elements(totals, length)
    first = made.items[0]
    assert first.standard_deviation == pytest.approx(math.sqrt(9 + 0.25 / 12))
    assert first.half_width == pytest.approx(3 * NORMAL + 0.25)
    assert made.law.endswith("wider by how totals are rounded.")
    assert_daily(list(made.items), totals, structure, length)


def test_a_range_has_no_element_of_its_first_total_and_a_long_one_some() -> None:
    structure, forest = TREES[0]
    totals = totals_of(structure, [3.0] * 10, first=8)
    made = elements(totals, forest.length)
    assert [each.step for each in made.items] == list(range(9, 18))
    few = elements(totals, forest.length, some=[0, 1, 5, 9])
    assert [each.step for each in few.items] == [9, 13, 17]
    assert {tuple(each.values) for each in few.items} <= {tuple(each.values) for each in made.items}
    assert elements(totals_of(structure, [3.0], first=8), LENGTH).items == []
