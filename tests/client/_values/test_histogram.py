"""Test how the settings of a sparse histogram are read."""

from typing import Any

import pytest

from penstock_client import ProtocolError
from penstock_client._http.fields import Fields
from penstock_client._values.histogram import Histogram

ANSWER: dict[str, Any] = {
    "domain": {"type": "uint64"},
    "size": 2**64,
    "threshold": 40.5,
    "false_keys": 0.01,
    "appears": [{"count": 10, "probability": 0.02}, {"count": 80, "probability": 0.999}],
}


def test_a_histogram_says_how_likely_a_key_is_to_appear() -> None:
    histogram = Histogram.read_from(Fields({"histogram": ANSWER}, "release"))
    assert histogram is not None
    assert (histogram.domain, histogram.size) == ({"type": "uint64"}, 2**64)
    assert (histogram.threshold, histogram.false_keys) == (40.5, 0.01)
    assert histogram.appears == {10: 0.02, 80: 0.999}


def test_any_other_query_has_none() -> None:
    assert Histogram.read_from(Fields({}, "release")) is None


@pytest.mark.parametrize("name", ANSWER)
def test_an_answer_that_leaves_something_out_is_refused(name: str) -> None:
    answer = {key: value for key, value in ANSWER.items() if key != name}
    with pytest.raises(ProtocolError, match=name):
        Histogram.read(Fields(answer, "histogram"))


@pytest.mark.parametrize("name", ["size", "false_keys"])
def test_what_cannot_be_nothing_is_above_0(name: str) -> None:
    with pytest.raises(ProtocolError, match=name):
        Histogram.read(Fields({**ANSWER, name: 0}, "histogram"))
