"""Test files written and read past the cache: the same bytes, whatever memory and file system."""

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from penstock.persistence.chunks import direct
from penstock.persistence.chunks.direct import BLOCK

SIZES = [0, 1, BLOCK - 1, BLOCK, BLOCK + 70, 5 * BLOCK + 3]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    yield descriptor
    os.close(descriptor)


def memory(size: int, off: int = 0) -> memoryview:
    """Return bytes that begin ``off`` after a block's begin, none of them like its neighbor."""
    array = np.empty(size + off + BLOCK, dtype=np.uint8)
    start = -array.ctypes.data % BLOCK + off
    part = array[start : start + size]
    part[:] = np.arange(size) % 251
    return part.data


def refused(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Refuse to write or read past the cache, and to say what is in it."""
    control = fcntl.fcntl

    def refuse(descriptor: int, command: int, value: int = 0) -> int:
        if value & os.O_DIRECT:
            raise OSError(number, os.strerror(number))
        return control(descriptor, command, value)

    def unknown(_: int, buffers: list[memoryview], at: int, flags: int = 0) -> int:
        if flags:
            raise OSError(errno.EOPNOTSUPP, "no such flag")
        return read(_, buffers, at)

    read = os.preadv
    monkeypatch.setattr(fcntl, "fcntl", refuse)
    monkeypatch.setattr(os, "preadv", unknown)


@pytest.mark.parametrize("off", [0, 1, 512])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_written_is_read(file: int, size: int, off: int) -> None:
    content = memory(size, off)
    direct.write(file, content)
    os.fdatasync(file)
    assert os.pread(file, size + 1, 0) == bytes(content)
    for cached in (True, False):
        if not cached:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        room = memory(size, off)
        room[:] = bytes(size)
        assert direct.read_into(file, room) == size
        assert room == content


@pytest.mark.parametrize("size", SIZES)
def test_a_file_system_may_refuse_it(file: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(monkeypatch, errno.EINVAL)
    content, room = memory(size), memory(size)
    room[:] = bytes(size)
    direct.write(file, content)
    assert direct.read_into(file, room) == size
    assert room == content


def test_another_error_is_reported(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(monkeypatch, errno.ENOSPC)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        direct.write(file, memory(BLOCK))


def test_a_write_that_the_disk_cuts_short_is_continued(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda to, part: write(to, part[: 3 * BLOCK]))
    content = memory(10 * BLOCK + 5)
    direct.write(file, content)
    assert os.pread(file, 11 * BLOCK, 0) == bytes(content)


@pytest.mark.parametrize(
    ("size", "off", "past"), [(BLOCK + 1, 0, True), (BLOCK - 1, 0, False), (BLOCK + 1, 1, False)]
)
def test_only_whole_blocks_of_aligned_memory_pass_the_cache(
    file: int, size: int, off: int, past: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    control, flags = fcntl.fcntl, []

    def note(descriptor: int, command: int, value: int = 0) -> int:
        flags.append(value & os.O_DIRECT)
        return control(descriptor, command, value)

    monkeypatch.setattr(fcntl, "fcntl", note)
    direct.write(file, memory(size, off))
    assert any(flags) == past
    assert not control(file, fcntl.F_GETFL) & os.O_DIRECT, "what follows goes through the cache"


def test_a_file_of_another_size_than_the_room_fills_what_it_can(file: int) -> None:
    direct.write(file, memory(2 * BLOCK + 9))
    os.fdatasync(file)
    room = memory(3 * BLOCK)
    assert direct.read_into(file, room) == 2 * BLOCK + 9
    assert direct.read_into(file, room[:BLOCK]) == BLOCK
