"""Test values that are read chunk by chunk, when they are needed."""

import numpy as np
import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import vectors
from tests.unit.worlds import World

from penstock.services.noise.long_vectors.lazy_values import LazyPositions, LazyValues


@pytest.fixture
def values(long: World) -> LazyValues:
    vector = next(iter(vectors(long).values()))
    return LazyValues(vector, lambda steps: steps.astype(np.float64))


def test_parts_are_those_of_the_whole(values: LazyValues) -> None:
    whole = np.asarray(values)
    assert len(values) == values.size == whole.size == 20
    for part in (slice(0, 20), slice(3, 5), slice(7, 17), slice(16, None), slice(5, 5)):
        assert values[part].tolist() == whole[part].tolist()
    assert values[9] == whole[9]
    assert values[-1] == whole[-1]
    assert list(values) == whole.tolist()
    with pytest.raises(ValueError, match="steps"):
        values[::2]


def test_a_range_reads_only_its_chunks(values: LazyValues, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    product = type(values._vector).chunk

    def chunk(vector: object, index: int) -> object:
        read.append(index)
        return product(vector, index)  # type: ignore[arg-type]  # it is one

    monkeypatch.setattr(type(values._vector), "chunk", chunk)
    part = values.between(9, 12)
    assert len(part) == 3
    assert part[0:3].tolist() == np.asarray(part).tolist()
    assert read == [1]


def test_positions_count_from_the_start_of_the_vector() -> None:
    part = LazyPositions(0, 20).between(5, 9)
    assert part[1:3].tolist() == [6, 7]
    assert np.asarray(part).tolist() == [5, 6, 7, 8]
