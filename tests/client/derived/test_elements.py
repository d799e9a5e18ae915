"""Test that elements of a stream have the noise that its totals do not share."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.client.conftest import TOTALS
from tests.client.servers.answers import STREAM

from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import chain, matrices, variance_weight
from penstock.structures.streams.spread import laplace_half_width
from penstock_client import CovarianceUnknown, InvalidArgument, RunningTotals, Stream
from penstock_client._http.fields import Fields
from penstock_client.derived import daily

NORMAL = 1.959963984540054


def stream_of(**structure: Any) -> Stream:
    return Stream.read(Fields({**STREAM, "structure": structure}, "stream"))


def totals_of(deviations: list[float], first: int = 1) -> RunningTotals:
    """Return totals 0, 10, 20 ... with these standard deviations."""
    items = [
        {
            "t": first + place,
            "values": [10.0 * place],
            "error": {"standard_deviation": each, "confidence": 0.95, "half_width": 2 * each},
        }
        for place, each in enumerate(deviations)
    ]
    return RunningTotals.read(Fields({**TOTALS, "mechanism": "gaussian", "items": items}, "totals"))


def test_an_element_has_the_noise_that_its_totals_do_not_share() -> None:
    root = math.sqrt(2)
    totals = totals_of([3, 3, 3 * root, 3], first=1)
    found = daily(totals, stream_of(kind="kary", k=2, subtracting=False))
    assert found.keys == (1, 2, 3, 4)
    assert [item.value for item in found] == [0, 10, 10, 10]
    # 1; 1 and 2; 3, beside 2 in both; 2 and 3, and 4.
    expected = [3, 3 * root, 3, 3 * math.sqrt(3)]
    assert [item.standard_deviation for item in found] == pytest.approx(expected)
    assert found[3].upper == pytest.approx(10 + 3 * NORMAL)
    assert daily(replace(totals, items=totals.items[1:]), stream_of(kind="kary", k=2)).keys == (
        3,
        4,
    )


@pytest.mark.parametrize(("mechanism", "power"), [("gaussian", 1), ("laplace", 2)])
def test_elements_without_an_end_have_noises_of_several_weights(mechanism: str, power: int) -> None:
    epochs = Epochs(2)
    steps = range(6, 18)
    exact = [3 * math.sqrt(variance_weight(epochs, t, squared=power == 2)) for t in steps]
    totals = totals_of(exact, first=6)
    answer = {**totals.answer, "granularity": 1e-9}
    totals = replace(totals, mechanism=mechanism, answer=answer)
    endless = replace(stream_of(kind="epochs", k=2, subtracting=False), length=None)
    found = daily(totals, endless)
    assert found.keys == tuple(steps[1:])
    decoder, _ = matrices(epochs, 17)
    used = sorted({node for t in range(1, 18) for node in chain(epochs, epochs.node(t))})
    variances = np.array([float(epochs.weight(node)) ** power for node in used])
    elements = np.square(np.diff(decoder, axis=0)) @ variances
    assert [item.standard_deviation for item in found] == pytest.approx(
        (3 * np.sqrt(elements[5:])).tolist()
    )
    reach = [(item.upper - item.value) / item.standard_deviation for item in found]
    if mechanism == "gaussian":
        assert reach == pytest.approx([NORMAL] * len(found))
    else:
        for row, item in zip(np.diff(decoder, axis=0)[5:], found, strict=True):
            scales = [epochs.weight(n) for n, each in zip(used, row, strict=True) if each]
            width = laplace_half_width(scales, 0.95) * 3 / math.sqrt(2)
            assert width * (1 - 1e-6) <= item.upper - item.value <= width * 1.1


@pytest.mark.parametrize("structure", [{"kind": "square_root"}, {"kind": "epochs"}])
def test_elements_of_other_structures_are_refused(structure: dict[str, Any]) -> None:
    with pytest.raises(CovarianceUnknown, match="does not state their covariance"):
        daily(totals_of([3, 3]), stream_of(**structure))
    endless = replace(stream_of(kind="kary", k=2), length=None)
    with pytest.raises(CovarianceUnknown):
        daily(totals_of([3, 3]), endless)


def test_totals_without_an_element_are_refused() -> None:
    stream = stream_of(kind="kary", k=2)
    with pytest.raises(InvalidArgument, match="total before it"):
        daily(totals_of([3], first=2), stream)
    with pytest.raises(InvalidArgument, match="not of 'others'"):
        daily(totals_of([3]), replace(stream, name="others"))
    with pytest.raises(InvalidArgument, match="confidence"):
        daily(totals_of([3]), stream, confidence=1)
    with pytest.raises(InvalidArgument, match="law of new noise"):
        daily(replace(totals_of([3]), mechanism="new"), stream)


def test_elements_of_several_numbers_have_a_key_for_each() -> None:
    totals = totals_of([3, 3])
    items = [replace(item, values=(1.0 + place, 5.0 * place)) for place, item in enumerate(totals)]
    found = daily(replace(totals, items=tuple(items)), stream_of(kind="kary", k=2))
    assert found.keys == ((1, 0), (1, 1), (2, 0), (2, 1))
    assert [item.value for item in found] == [1, 0, 1, 5]
    assert found[2, 1].standard_deviation == pytest.approx(3 * math.sqrt(2))


def test_elements_of_the_square_root_have_the_noise_that_comes_with_the_totals() -> None:
    totals = totals_of([3, 3])
    stated = {"structure": {"kind": "square_root"}, "variance": 9.0}
    answer = {**totals.answer, "granularity": 1e-9, "covariance": stated}
    found = daily(replace(totals, answer=answer), stream_of(kind="square_root"))
    # 1; then 1/2 - 1 and 1.
    expected = [3, 3 * math.sqrt(1.25)]
    assert [item.standard_deviation for item in found] == pytest.approx(expected)
