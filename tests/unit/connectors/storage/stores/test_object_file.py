"""An object is a file that can be read at any position, by ranges."""

import io

import pytest
from tests.unit.connectors.storage.lakes import Memory

from penstock.connectors.storage.stores.object_file import TAIL, ObjectFile

CONTENT = bytes(range(256)) * 1024


@pytest.fixture
def store() -> Memory:
    store = Memory()
    store.put("a", CONTENT)
    return store


def test_it_reads_as_a_file_does(store: Memory) -> None:
    size = len(CONTENT)
    with ObjectFile(store, store.head("a")) as file, io.BytesIO(CONTENT) as usual:
        assert file.readable()
        assert file.seekable()
        assert file.size() == size
        for offset, whence, count in [
            (0, io.SEEK_SET, 10),
            (5, io.SEEK_CUR, 0),
            (-3, io.SEEK_END, 10),
            (size + 5, io.SEEK_SET, 10),
            (7, io.SEEK_SET, size),
            (size - TAIL - 5, io.SEEK_SET, 10),
            (100, io.SEEK_SET, -1),
        ]:
            assert file.seek(offset, whence) == usual.seek(offset, whence)
            assert file.read(count) == usual.read(count)


def test_its_end_is_fetched_once(store: Memory) -> None:
    file = ObjectFile(store, store.head("a"))
    for _ in range(3):
        file.seek(-8, io.SEEK_END)
        assert file.read(8) == CONTENT[-8:]
    assert store.read_bytes == TAIL
