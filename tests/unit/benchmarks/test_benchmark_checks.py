"""Test what the benchmarks refuse to time: answers that are wrong."""

import json

import numpy as np
import pytest
from tests.benchmarks.database.world import check_values, exact_values
from tests.benchmarks.served.readers import Heard
from tests.benchmarks.served.received import Received

SIZE = 50
VARIANCE = 100.0


def noisy(shift: float = 0.0) -> list[float]:
    """Return a release whose values are all off by one deviation and ``shift``."""
    return [value + 10.0 + shift for value in exact_values(SIZE).tolist()]


def heard(values: list[float], name: str = "one", status: int = 200) -> Heard:
    release = {
        "id": name,
        "query": "visits",
        "level": {"parameter": "variance", "value": VARIANCE},
        "values": values,
    }
    return Heard(status, json.dumps(release).encode(), 0.001)


def test_the_same_vector_is_taken_from_every_reader_as_often_as_it_comes() -> None:
    received = Received(SIZE)
    for reader in (0, 0, 1):
        assert received.add(reader, heard(noisy())) == "one"
    assert (received.answers, received.vectors, received.shared) == (3, 1, 1)


@pytest.mark.parametrize("second", [heard(noisy(0.001)), heard(noisy(), name="two")])
def test_another_vector_or_name_at_the_same_level_is_refused(second: Heard) -> None:
    received = Received(SIZE)
    received.add(0, heard(noisy()))
    with pytest.raises(AssertionError, match="two different releases of visits"):
        received.add(1, second)


@pytest.mark.parametrize(
    "answer",
    [
        heard(noisy(), status=503),
        heard(noisy(1000.0)),
        heard(noisy()[1:]),
        heard(exact_values(SIZE).tolist()),
    ],
    ids=["a refusal", "too far off", "too few", "no noise"],
)
def test_an_answer_that_is_no_release_is_refused(answer: Heard) -> None:
    with pytest.raises(AssertionError):
        Received(SIZE).add(0, answer)


def test_values_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(AssertionError):
        check_values(np.full(SIZE, np.nan), SIZE, VARIANCE)
