"""Measure long vectors: registered, released and read, in chunks, each size in its own process.

Everything is in processor seconds, which other work on the machine changes less than durations.  A
release is one between two neighbors.  It is compared with the bridge between vectors that are at
hand, and AES-GCM over the result, on one core; and with all that no implementation can leave out,
which decrypts both neighbors and hashes the ciphertext as well.  They are measured in turns, and
the medians are shown.  Two processes draw as the workers of a cluster do.
"""

import hashlib
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.benchmarks.database.world import TIERS, World, fresh_world
from tests.benchmarks.figures import Figure, Goal

from penstock.http import tabular_formats
from penstock.mechanisms import Gaussian
from penstock.mechanisms.multiple_release import place
from penstock.randomness.stream import Stream
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.datasets import datasets
from penstock.services.noise.long_vectors.sizes import CHUNK
from penstock.services.noise.long_vectors.spread import chunk_work, cluster
from penstock.services.queries import registration
from penstock.services.releases import history
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest

SIDES = {10**6: (1000, 1100), 10**7: (3163, 3163), 10**8: (10_000, 10_000)}
"""The numbers of categories of both columns that a query is grouped by."""

LEAST_SHARE, MOST_MEMORY = 0.8, 2.0
SIZES = "LONG_SIZES"
"""The environment variable with the sizes to measure, separated by spaces; by default all."""


ROUNDS = {10**6: 9, 10**7: 5, 10**8: 1}
"""How many levels are released, one after the other."""


def measure() -> Sequence[Figure]:
    """Return the figures of each size, in one process and in two."""
    chosen = [int(float(size)) for size in os.environ.get(SIZES, "1e6 1e7 1e8").split()]
    return [figure for size in chosen for count in (1, 2) for figure in _measured(size, count)]


def _measured(size: int, processes: int) -> Sequence[Figure]:
    """Run one size in a process of its own, whose chunks are drawn by so many."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(size), str(processes)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    told: dict[str, float] = json.loads(done.stdout)
    name = f"10^{len(str(size)) - 1} values, {processes} process{'es' * (processes > 1)}"
    share = Goal(LEAST_SHARE) if processes == 1 else None
    return [
        Figure(f"{name}: registered", told["registered"] / 1e6, "M values/s"),
        Figure(f"{name}: released", told["released"] / 1e6, "M values/s"),
        Figure(f"{name}: bridge and AES-GCM alone", told["alone"] / 1e6, "M values/s"),
        Figure(f"{name}: released, of that", told["share"], "x", goal=share),
        Figure(f"{name}: released, of that and what else is needed", told["share_needed"], "x"),
        Figure(f"{name}: read as Arrow", told["read"] / 1e6, "M values/s"),
        Figure(f"{name}: peak of the registration", told["peak_registered"] / 2**30, "GiB"),
        Figure(
            f"{name}: peak of release and read",
            told["peak"] / 2**30,
            "GiB",
            goal=Goal(MOST_MEMORY, at_most=True),
        ),
    ]


def _seconds(act: Callable[[], Any], workers: Sequence[int] = ()) -> tuple[Any, float]:
    """Return a result, and the processor time of this process and of ``workers``."""

    def spent() -> float:
        return time.process_time() + sum(_spent(worker) for worker in workers)

    begun = spent()
    result = act()
    return result, spent() - begun


def _spent(worker: int) -> float:
    """Return the processor seconds of a process."""
    *_, after = Path(f"/proc/{worker}/stat").read_text().rpartition(") ")
    user, system = after.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def peak(process: str = "self") -> int:
    """Return the most bytes that were resident since the last call."""
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return 1024 * int(match[1]) if match else 0


@contextmanager
def _drawing(world: World, processes: int) -> Iterator[Sequence[int]]:
    """Let other processes draw, if there are to be several; yield their numbers."""
    if processes == 1:
        yield ()
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:

        def results(_: str, works: Sequence[str]) -> list[str]:
            return list(pool.map(chunk_work.carried_out, works))

        vars(cluster)["results"] = results
        settings = world.server.settings.model_copy(update={"ray_address": "these processes"})
        vars(world.server)["settings"] = settings
        # Started and imported before anything is measured.
        yield sorted(set(pool.map(_number, range(64 * processes))))


def _number(_: int) -> int:
    time.sleep(0.01)  # so that each of them gets one
    return os.getpid()


def _register(world: World, folder: Path, size: int) -> int:
    """Register counts over all pairs of two columns' categories; return how many."""
    first, second = SIDES[size]
    file = folder / "pairs.csv"
    rows = (f"{unit},{unit % first},{unit * 7 % second}" for unit in range(1000))
    file.write_text("\n".join(("unit,one,other", *rows)) + "\n")
    spec = {
        "name": "pairs",
        "source": {"engine": "duckdb", "uri": str(file)},
        "privacy_unit": {"column": "unit"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "max_units": 10**6,
        "columns": {
            "unit": {"type": "integer"},
            "one": {"type": "integer", "categories": list(range(first))},
            "other": {"type": "integer", "categories": list(range(second))},
        },
        "budgets": {name: {"epsilon": 20.0} for name in TIERS},
    }
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    query = {
        "name": "long",
        "dataset": "pairs",
        "group_by": [{"column": "one"}, {"column": "other"}],
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
        "mechanism": "gaussian",
        "levels": {tier: {"level": level} for tier, level in TIERS.items()},
    }
    request = ComputedQueryRequest.model_validate(query)
    registration.register(world.server, OPERATOR, request)
    return first * second


def _alone(count: int, *, needed: bool = False) -> float:
    """Return the seconds of the bridge and AES-GCM for ``count`` values, from five chunks.

    ``needed`` adds decrypting two neighbors, and SHA-256 of the ciphertext.
    """
    gaussian, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    levels = [ladder.value(ladder.rung_at_or_above(Fraction(n))) for n in (100, 1000, 10_000)]
    stream, cipher = Stream.fresh(), AESGCM(AESGCM.generate_key(256))
    near = np.zeros(CHUNK, dtype=np.int64)
    far = gaussian.increment(levels[0], levels[2], CHUNK, stream)
    nonce = os.urandom(12)
    neighbor = cipher.encrypt(nonce, far.data.cast("B"), None) if needed else b""

    def act() -> int:
        drawn = place(gaussian, (levels[0], near), (levels[2], far), levels[1], Stream.fresh())
        sealed = cipher.encrypt(os.urandom(12), drawn.data.cast("B"), None)
        if needed:
            hashlib.sha256(sealed)
            for _ in range(2):
                cipher.decrypt(nonce, neighbor, None)
        return len(sealed)

    act()
    _, seconds = _seconds(lambda: [act() for _ in range(5)])
    return seconds / 5 * count / CHUNK


def _read(world: World, name: str) -> int:
    """Read a whole release as an Arrow stream, and keep nothing of it."""
    view = history.values(world.server, acting_as(world.server, "ann"), name)
    return sum(len(block) for block in tabular_formats._written(view, "arrow", {}))


def _released(world: World, size: int, count: int, workers: Sequence[int]) -> dict[str, float]:
    """Release levels in turns with the least that it could take, and read one."""
    ann = world.add_analyst("ann")
    world.ask(ann, "long", tier="public")
    rounds: list[tuple[float, float, float]] = []
    for number in range(ROUNDS[size]):
        level, alone = 1000.0 * 1.3**number, _alone(count)
        needed = _alone(count, needed=True)
        answer, released = _seconds(partial(world.ask, ann, "long", level=level), workers)
        rounds.append((alone, needed, released))
    _, read = _seconds(lambda: _read(world, answer.view.id))
    return {
        "alone": count / statistics.median(alone for alone, _, _ in rounds),
        "released": count / statistics.median(released for _, _, released in rounds),
        "share": statistics.median(alone / released for alone, _, released in rounds),
        "share_needed": statistics.median(needed / released for _, needed, released in rounds),
        "read": count / read,
        "peak": max(peak(str(process)) for process in ("self", *workers)),
    }


def main() -> None:
    """Measure one size with a number of processes, and print it as JSON."""
    size, processes = int(sys.argv[1]), int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processes])
    with TemporaryDirectory(prefix="penstock-long-") as folder, fresh_world() as world:
        settings = world.server.settings.model_copy(
            update={"dimension_limit": 10**8, "data_anywhere": True}
        )
        vars(world.server)["settings"] = settings
        vars(world.server)["randomness"] = lambda: Stream.fresh(threads=1)
        count, registered = _seconds(lambda: _register(world, Path(folder), size))
        measured = {"registered": count / registered, "peak_registered": peak()}
        with _drawing(world, processes) as workers:
            measured |= _released(world, size, count, workers)
    sys.stdout.write(json.dumps(measured))


if __name__ == "__main__":
    main()
