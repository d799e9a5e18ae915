"""Test what a release of a long vector takes in memory: drawn, sealed, stored and sent."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.support.places import ROOT
from tests.unit.worlds import World

from penstock.services.noise.long_vectors.sizes import CHUNK

ROW = 500_000
"""Values of a vector that is a row."""

MILLION = 1_000_000
"""Values of a vector in four chunks."""

LONG = 3_000_000
"""Values of a vector in chunks."""

VECTOR = 8 * ROW
MOST = 3
"""Vectors of 8 bytes a value, of one that is a row."""

CHUNKS = 8
"""Chunks of 8 bytes a value, of one in chunks, however long it is."""

SPARE = 6 * 2**20
"""Bytes beside them: SQLite's cache, the answer's first MiB, chunks that are being drawn."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.only("sqlite"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


def grown(visits: World, size: int) -> list[int]:
    """Return by how many bytes a process grows with each of four answers with a vector.

    The C library's own reserves do not count.
    """
    settings = visits.server.settings
    wide = settings.model_copy(update={"dimension_limit": size, "query_body_limit": 2**30})
    server = replace(visits.server, settings=wide)
    replace(visits, server=server).push("long", values=[7] * size, keys=None)
    visits.server.database.close()
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.release_memory", settings.home, "long"],
        cwd=ROOT,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**20)},  # what is freed is given back
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def test_a_release_takes_three_vectors_at_most(visits: World) -> None:
    """Also one between two neighbors, a repeat, and one that is read again by its name."""
    sizes = grown(visits, ROW)
    assert len(sizes) == 4
    assert max(sizes) < MOST * VECTOR + SPARE, [round(size / VECTOR, 2) for size in sizes]
    assert min(sizes) > 2 * VECTOR, "nothing was measured"


def test_a_release_of_a_million_values_takes_two_vectors_at_most(visits: World) -> None:
    """Three chunks at a time, and the page's worth of an answer; as a row it took three vectors."""
    sizes = grown(visits, MILLION)
    assert len(sizes) == 4
    assert max(sizes) < 2 * 8 * MILLION, [size / (8 * MILLION) for size in sizes]
    assert min(sizes) > 8 * MILLION // 4, "nothing was measured"


def test_a_release_in_chunks_takes_a_few_chunks(visits: World) -> None:
    sizes = grown(visits, LONG)
    assert len(sizes) == 4
    assert max(sizes) < CHUNKS * 8 * CHUNK + SPARE, [size / CHUNK for size in sizes]
    assert min(sizes) > 8 * CHUNK, "nothing was measured"
