import pytest

from penstock.randomness import Stream


@pytest.fixture
def stream() -> Stream:
    return Stream.from_key(bytes(range(32)))
