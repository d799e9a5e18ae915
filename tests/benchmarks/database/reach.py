"""Measure how far rows and values go on one machine, for ``deploy/SCALING.md``.

*Rows*: a group-by with bounded contributions is registered over one Parquet file: by person, and
with each row as a privacy unit of its own.  The file is written in blocks that have other people
each, or a few blocks again and again, for as many fewer people.  *Values*: one level between two
neighbors is drawn, sealed, hashed, written and synced by the product's own code, its manifest is
sealed and opened, and every chunk read again.  The neighbors' chunks are read from the disk and
decrypted, but are a few only, which repeat: their numbers do not matter to the work.  Each size is
measured in a process of its own.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.benchmarks.database import crowd, registration
from tests.benchmarks.database.long import peak
from tests.benchmarks.database.world import fresh_world
from tests.benchmarks.figures import Figure

from penstock.encryption.envelope import RowIdentity
from penstock.encryption.key import Key
from penstock.mechanisms import Gaussian
from penstock.mechanisms.process import IntVector
from penstock.persistence.chunks.folder import FolderStore
from penstock.services.noise.long_vectors import manifest as manifests
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.attempts import Attempt, ChunkDraw
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws
from penstock.services.noise.long_vectors.chunk_sealing import ChunkPlaces
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.long_vectors.manifest import Manifest
from penstock.services.noise.long_vectors.rooms import Rooms

ROWS, VALUES = "REACH_ROWS", "REACH_VALUES"
"""The environment variables with the sizes, separated by spaces."""

REPEATS = "REACH_REPEATS"
"""The environment variable with how often each block of rows is written; by default once."""

FOLDER = "REACH_FOLDER"
"""The environment variable with the folder for files and chunks; by default that of the system."""

NEIGHBORS = 16
"""Chunks of each neighbor."""

UNITS = {"processor": "s", "wall": "s", "peak": "GiB", "rate": "M values/s", "manifest": "kB"}


def measure() -> Sequence[Figure]:
    """Return the figures of each size."""
    rows = os.environ.get(ROWS, "1e6 1e7").split()
    values = os.environ.get(VALUES, "1e7 1e8").split()
    return [
        *(figure for size in rows for figure in _apart("rows", size)),
        *(figure for size in values for figure in _apart("values", size)),
    ]


def _apart(kind: str, size: str) -> list[Figure]:
    """Measure one size in a process of its own."""
    words = [sys.executable, "-m", __name__, kind, size]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    named = f"{int(float(size)):,} {kind}"
    return [
        Figure(f"{named}: {name}", value, UNITS.get(name.rpartition(", ")[2], ""))
        for name, value in told.items()
    ]


def rows(size: int, folder: Path, block: int = 10**7, repeats: int = 1) -> dict[str, float]:
    """Register the group-by over so many rows, by either unit; return what each took."""
    file = folder / "crowd.parquet"
    people = crowd.write_crowds(file, size, block, repeats)
    return {
        "people": float(people),
        "file in 10^6 bytes": file.stat().st_size / 1e6,
        **_registered("by person", file, registration.PERSON, registration.query(1)),
        **_registered("by row", file, {"rows": 1}, registration.query(1, bounds=(1, 1))),
    }


def _registered(
    named: str, file: Path, unit: Mapping[str, object], spec: Mapping[str, object]
) -> dict[str, float]:
    """Register the file and a query in a home of their own; return what both took."""
    with fresh_world() as world:
        settings = world.server.settings.model_copy(update={"data_anywhere": True})
        vars(world.server)["settings"] = settings
        source = {"engine": "duckdb", "uri": str(file)}
        told: dict[str, float] = {}
        peak()
        for name, act in {
            "dataset": lambda: registration.register_dataset(world, source, unit),
            "query": lambda: registration.register_query(world.server, spec),
        }.items():
            taken = _times(act)
            told |= {f"{named}, {name}, {clock}": value for clock, value in taken.items()}
            told[f"{named}, {name}, peak"] = peak() / 2**30
        return told


def values(size: int, folder: Path, chunk: int = sizes.CHUNK) -> dict[str, float]:
    """Draw one level of so many values between two others; return what each step took."""
    store = FolderStore(folder / "chunks", lambda: 0)
    gaussian, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    low, middle, high = (
        ladder.value(ladder.rung_at_or_above(Fraction(n))) for n in (100, 1000, 10_000)
    )
    exact = np.arange(chunk, dtype=np.int64)
    few = min(NEIGHBORS, math.ceil(size / chunk)) * chunk

    def beyond(draws: ChunkDraws, index: int, span: slice, rooms: Rooms) -> IntVector:
        return draws.between(index, (low, _piece(near, index, span, rooms, "accurate")), None)

    def between(draws: ChunkDraws, index: int, span: slice, rooms: Rooms) -> IntVector:
        noisy = (high, _piece(far, index, span, rooms, "noisy"))
        return draws.between(index, (low, _piece(near, index, span, rooms, "accurate")), noisy)

    near, _ = _level(
        store, gaussian, low, few, chunk, lambda draws, index, *_: draws.anchor(index, exact)
    )
    far, _ = _level(store, gaussian, high, few, chunk, beyond)
    peak()
    new, drawn = _level(store, gaussian, middle, size, chunk, between)
    place, query_key = RowIdentity(table="release", dataset="d", length=size, type="x"), Key.fresh()
    sealed: list[bytes] = []
    told = {f"drawn and stored, {name}": taken for name, taken in drawn.items()}
    told["drawn and stored, rate"] = size / drawn["processor"] / 1e6
    told["drawn and stored, peak"] = peak() / 2**30
    for name, act in {
        "manifest sealed": lambda: sealed.append(
            manifests.sealed(new.manifest, new.key, query_key, place)
        ),
        "manifest opened": lambda: manifests.opened(sealed[0], query_key, place),
        "all chunks verified": new.require_whole,
    }.items():
        told |= {f"{name}, {clock}": taken for clock, taken in _times(act).items()}
    told["manifest"] = len(sealed[0]) / 1e3
    told["chunks"] = float(new.manifest.count)
    return told


def _piece(vector: LongVector, index: int, span: slice, rooms: Rooms, use: str) -> IntVector:
    """Return a chunk of a neighbor, which has a few that repeat."""
    return vector.chunk(index % vector.manifest.count, rooms, use)[: span.stop - span.start]


def _level(
    store: FolderStore, gaussian: Gaussian, level: Fraction, size: int, chunk: int, draw: ChunkDraw
) -> tuple[LongVector, dict[str, float]]:
    """Draw and store one level as an attempt does; return it, and what that took."""
    attempt, key, spans = os.urandom(16).hex(), Key.fresh(), sizes.spans(size, chunk)
    places = ChunkPlaces("dataset", "query", 1, attempt, len(spans))
    writing = store.begin(attempt)
    draws = ChunkDraws(gaussian, level, os.urandom(32))
    hashes: list[str] = []

    def act() -> None:
        hashes.extend(Attempt(draws, key, places, spans, writing).stored(draw, 1))
        writing.settle()

    times = _times(act)
    root = manifests.root_of(hashes)
    manifest = Manifest(attempt, len(spans), chunk, size, 1, tuple(hashes), root)
    return LongVector(store, manifest, key, places, "a level", writing), times


def _times(act: Callable[[], object]) -> dict[str, float]:
    processor, wall = time.process_time(), time.monotonic()
    act()
    return {"processor": time.process_time() - processor, "wall": time.monotonic() - wall}


def main() -> None:
    """Measure one size, and print it as JSON."""
    kind, size = sys.argv[1], int(float(sys.argv[2]))
    parent = os.environ.get(FOLDER)
    repeats = int(os.environ.get(REPEATS, "1"))
    with TemporaryDirectory(prefix="penstock-reach-", dir=parent) as named:
        folder = Path(named)
        told = rows(size, folder, repeats=repeats) if kind == "rows" else values(size, folder)
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
