"""Test what a release of a long vector takes in memory: drawn, sealed, stored and sent."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.support.places import ROOT
from tests.unit.worlds import World

SIZE = 2_000_000
VECTOR = 8 * SIZE
MOST = 3
"""Vectors of 8 bytes a value."""

SPARE = 6 * 2**20
"""Bytes beside them: SQLite's cache, the answer's first MiB, chunks that are being drawn."""


@pytest.mark.slow
@pytest.mark.only("sqlite")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_release_takes_three_vectors_at_most(visits: World) -> None:
    """Also one between two neighbors, a repeat, and one that is read again by its name.

    The C library's own reserves do not count.
    """
    settings = visits.server.settings
    wide = settings.model_copy(update={"dimension_limit": SIZE, "query_body_limit": 2**30})
    server = replace(visits.server, settings=wide)
    replace(visits, server=server).push("long", values=[7] * SIZE, keys=None)
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
    grown = [int(line) for line in done.stdout.split()]
    assert len(grown) == 4
    assert max(grown) < MOST * VECTOR + SPARE, [round(size / VECTOR, 2) for size in grown]
    assert min(grown) > 2 * VECTOR, "nothing was measured"
