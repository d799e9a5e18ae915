"""Test a disk that is full in the middle of a vector: nothing is left, the next draw is whole."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.services.noise.long_vectors.stored_vectors import store, vectors
from tests.unit.worlds import LONG_VALUES, World

from penstock.errors import Unavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.verification.verification import verify

Fill = Callable[[int], None]


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Fill:
    """Return ``fill(count)``: so many chunks are written, half of one more, and then no more."""
    product, left = os.write, [1 << 30]

    def write(descriptor: int, content: bytes) -> int:
        if "/chunks/" not in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            return product(descriptor, content)
        left[0] -= 1
        if left[0] == -1:
            return product(descriptor, content[: len(content) // 2])
        if left[0] < -1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return product(descriptor, content)

    def full(count: int) -> None:
        left[0] = count

    monkeypatch.setattr(os, "write", write)
    return full


@pytest.mark.parametrize("whole", [0, 2])
def test_a_release_that_finds_no_room_leaves_nothing(long: World, fill: Fill, whole: int) -> None:
    before = list(store(long).attempts())
    fill(whole)
    with pytest.raises(Unavailable, match=r"No space left on device.*Nothing was released"):
        long.ask("pia", "long")
    assert list(store(long).attempts()) == before
    assert len(vectors(long)) == 1
    fill(1 << 30)
    taken = long.streams.taken
    answer = long.ask("pia", "long")
    assert answer.first
    assert long.streams.taken == taken + 1, "the noise of what was cut off is not used again"
    deviation = answer.view.error.standard_deviation
    assert np.abs(np.asarray(answer.view.values) - LONG_VALUES).max() < 12 * deviation
    assert verify(long.server, OPERATOR).problems == []


def test_a_registration_that_finds_no_room_is_finished_later(long: World, fill: Fill) -> None:
    before = list(store(long).attempts())
    fill(1)
    with pytest.raises(Unavailable, match="No space left"):
        long.push("wide", values=LONG_VALUES, keys=None)
    assert list(store(long).attempts()) == before
    fill(1 << 30)
    long.push("wide", values=LONG_VALUES, keys=None)
    assert len(list(store(long).attempts())) == len(before) + 1
    assert long.ask("pia", "wide").first
    assert verify(long.server, OPERATOR).problems == []
