"""Test memory that processes share: one table for all, of one layout, in a file without a name."""

import multiprocessing
import os
from collections.abc import Callable

import pytest

from penstock.http.counting.rate_limits import BYTES, LAYOUT, Allowance, Buckets
from penstock.http.counting.shared_memory import DESCRIPTOR, Shared, inherited, nameless


def buckets(clock: Callable[[], float], memory: Shared | None = None) -> Buckets:
    return Buckets(memory or Shared(BYTES, LAYOUT), 0, bytes(32), clock)


def _take(descriptor: int, count: int, taken: "multiprocessing.SimpleQueue[int]") -> None:
    bucket = buckets(lambda: 5.0, Shared(BYTES, LAYOUT, descriptor))
    taken.put(sum(bucket.take("ann", Allowance(1000, 1.0)) == 0 for _ in range(count)))


def test_processes_share_one_bucket() -> None:
    context = multiprocessing.get_context("fork")
    taken = context.SimpleQueue()
    memory = nameless()
    processes = [context.Process(target=_take, args=(memory, 400, taken)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    os.close(memory)
    assert sum(taken.get() for _ in processes) == 1000


def test_memory_that_is_laid_out_otherwise_is_left_alone() -> None:
    descriptor = nameless()
    with Shared(8, "one way", descriptor).locked() as memory:
        memory[:] = b"12345678"
    with Shared(8, "another way", descriptor).locked() as memory:
        assert bytes(memory) == bytes(8)
        memory[:] = b"87654321"
    with Shared(8, "one way", descriptor).locked() as memory:
        assert bytes(memory) == b"12345678"
    os.close(descriptor)


def test_only_a_file_without_a_name_is_taken_for_the_masters(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = nameless()
    named = os.open(tmp_path_factory.mktemp("file") / "named", os.O_CREAT | os.O_RDWR)
    assert inherited({DESCRIPTOR: str(made)}) == made
    assert inherited({DESCRIPTOR: str(named)}) is None
    assert inherited({}) is None
    assert inherited({DESCRIPTOR: "x"}) is None
    os.close(named)
    os.close(made)
    assert inherited({DESCRIPTOR: str(made)}) is None
