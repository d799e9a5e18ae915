"""Test that every attempt has keys of its own, and the same bytes on any number of threads.

Also how large its chunks are.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.services.noise.long_vectors.stored_vectors import rows, store
from tests.unit.worlds import LONG_VALUES, World, push_long

from penstock.errors import NoRoom, Unavailable
from penstock.persistence.chunks.folder import FolderStore
from penstock.randomness import Stream
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.long_vector import LongVector

EXACT = np.array(LONG_VALUES, dtype=np.int64)


def drawn(
    world: World,
    threads: int = 1,
    exact: NDArray[np.int64] = EXACT,
    streams: Callable[[], Stream] | None = None,
) -> LongVector:
    """Draw an anchor of the long query, from one known key unless ``streams`` gives others."""
    known = streams or (lambda: Stream.from_key(bytes(32), threads=threads))
    server = replace(world.server, randomness=known)
    with server.database.read() as session:
        dataset, query, _ = rows(session)
        kind = kind_of(query)
    assert isinstance(kind, VectorKind)
    ((_, vector),) = kind.long(server, dataset, query).anchors([0], exact)
    return vector


@pytest.mark.parametrize(
    "noise",
    [
        {"mechanism": "gaussian"},
        {"mechanism": "laplace"},
        {"mechanism": "poisson"},
        {"mechanism": "skellam"},
        {"mechanism": "generalized_gaussian", "p": 4},
    ],
)
def test_one_thread_and_eight_draw_the_same_bytes(
    world: World, monkeypatch: pytest.MonkeyPatch, noise: dict[str, object]
) -> None:
    push_long(world, monkeypatch, **noise)
    one, eight = drawn(world, 1), drawn(world, 8)
    assert one.whole().tolist() == eight.whole().tolist()
    assert len(set(one.whole().tolist())) > 5


def test_no_attempt_uses_a_key_stream_or_a_nonce_of_another(long: World) -> None:
    """The same noise, from the same key, twice: only names, keys, salts and nonces differ."""
    one, other = drawn(long), drawn(long)
    assert one.manifest.attempt != other.manifest.attempt
    assert one.key.material != other.key.material
    headers = {vector.ciphertext(index)[10:54] for vector in (one, other) for index in range(3)}
    assert len(headers) == 6
    assert one.root != other.root


def test_every_attempt_asks_for_a_stream_of_its_own(long: World) -> None:
    taken = long.streams.taken
    noise = [drawn(long, streams=long.streams).whole().tolist() for _ in range(2)]
    assert noise[0] != noise[1]
    assert long.streams.taken == taken + 2


def test_what_fails_leaves_no_chunk(long: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(store(long).attempts())
    with pytest.raises(ValueError, match="chunk 0 has 7"):
        drawn(long, exact=EXACT[:7])
    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "require_room", full)
        with pytest.raises(NoRoom):
            drawn(long)
    assert list(store(long).attempts()) == before


def full(*_: object) -> None:
    raise NoRoom("full")


def test_the_first_error_ends_all_threads(long: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(store(long).attempts())

    def refuse(*_: object) -> None:
        raise Unavailable("the disk is gone")

    monkeypatch.setattr("penstock.persistence.chunks.folder.FolderWriting.put", refuse)
    with pytest.raises(Unavailable, match="gone"):
        drawn(long, 8)
    assert list(store(long).attempts()) == before


@pytest.mark.parametrize(
    "size", [sizes.LONGEST_ROW + 1, 10**6, sizes.CHUNK, sizes.CHUNK + 1, 10**7]
)
def test_chunks_are_neither_tiny_nor_larger_than_a_whole_one(size: int) -> None:
    chunk = sizes.chunk_of(size)
    assert sizes.LEAST_CHUNK <= chunk <= sizes.CHUNK
    spans = sizes.spans(size, chunk)
    assert [span.start for span in spans[1:]] == [span.stop for span in spans[:-1]]
    assert (spans[0].start, spans[-1].stop) == (0, size)


@pytest.mark.parametrize("size", [10**6, sizes.CHUNK])
def test_two_threads_share_a_million_values_evenly(size: int) -> None:
    """In one chunk of 2^20 all of them were one thread's."""
    spans = sizes.spans(size, sizes.chunk_of(size))
    shares = [sum(span.stop - span.start for span in spans[first::2]) for first in (0, 1)]
    assert max(shares) < 0.53 * size


@pytest.mark.parametrize("size", [sizes.CHUNK + 1, 10**7])
def test_longer_vectors_have_the_chunks_that_their_neighbors_have(size: int) -> None:
    """A chunk is drawn from those of the same number: stored vectors keep the size of theirs."""
    assert sizes.chunk_of(size) == 2**20
