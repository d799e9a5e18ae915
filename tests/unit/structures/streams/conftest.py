"""Provide streams of noise from fixed keys, one after the other."""

from collections.abc import Callable, Iterator
from hashlib import sha256

import pytest

from penstock.randomness import Stream


@pytest.fixture
def streams() -> Callable[[], Stream]:
    numbers: Iterator[int] = iter(range(1_000_000))
    return lambda: Stream.from_key(sha256(f"node noise {next(numbers)}".encode()).digest())
