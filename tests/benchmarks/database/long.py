"""Measure long vectors: registered, released and read, in chunks, each size in its own process.

Everything is in processor seconds, which other work on the machine hardly changes.  A release is
one between two neighbors.  It is compared with the least that it could take: the bridge between
vectors that are at hand, and AES-GCM over the result, on one core.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
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
from penstock.services.queries import registration
from penstock.services.releases import history
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest

SIDES = {10**6: (1000, 1100), 10**7: (3163, 3163), 10**8: (10_000, 10_000)}
"""The numbers of categories of both columns that a query is grouped by."""

LEAST_SHARE, MOST_MEMORY = 0.8, 2.0
SIZES = "LONG_SIZES"
"""The environment variable with the sizes to measure, separated by spaces; by default all."""


def measure() -> Sequence[Figure]:
    """Return the figures of each size, with one thread and with two."""
    chosen = [int(float(size)) for size in os.environ.get(SIZES, "1e6 1e7 1e8").split()]
    return [figure for size in chosen for threads in (1, 2) for figure in _measured(size, threads)]


def _measured(size: int, threads: int) -> Sequence[Figure]:
    """Run one size in a process of its own, on as many processors as it has threads."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(size), str(threads)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    told: dict[str, float] = json.loads(done.stdout)
    name = f"10^{len(str(size)) - 1} values, {threads} thread{'s' * (threads > 1)}"
    share = Goal(LEAST_SHARE) if threads == 1 else None
    return [
        Figure(f"{name}: registered", told["registered"] / 1e6, "M values/s"),
        Figure(f"{name}: released", told["released"] / 1e6, "M values/s"),
        Figure(f"{name}: bridge and AES-GCM alone", told["alone"] / 1e6, "M values/s"),
        Figure(f"{name}: released, of that", told["released"] / told["alone"], "x", goal=share),
        Figure(f"{name}: read as Arrow", told["read"] / 1e6, "M values/s"),
        Figure(f"{name}: peak of the registration", told["peak_registered"] / 2**30, "GiB"),
        Figure(
            f"{name}: peak of release and read",
            told["peak"] / 2**30,
            "GiB",
            goal=Goal(MOST_MEMORY, at_most=True),
        ),
    ]


def _seconds(act: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    result = act()
    return result, time.process_time() - begun


def _peak() -> int:
    """Return the most bytes that were resident since the last call."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    Path("/proc/self/clear_refs").write_text("5")
    return 1024 * int(found[1]) if found else 0


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


def _alone(count: int) -> float:
    """Return the seconds of the bridge and AES-GCM for ``count`` values, from five chunks."""
    gaussian, ladder = Gaussian.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    levels = [ladder.value(ladder.rung_at_or_above(Fraction(n))) for n in (100, 1000, 10_000)]
    stream, cipher = Stream.fresh(), AESGCM(AESGCM.generate_key(256))
    near = np.zeros(CHUNK, dtype=np.int64)
    far = gaussian.increment(levels[0], levels[2], CHUNK, stream)

    def act() -> int:
        drawn = place(gaussian, (levels[0], near), (levels[2], far), levels[1], Stream.fresh())
        return len(cipher.encrypt(os.urandom(12), drawn.data.cast("B"), None))

    act()
    _, seconds = _seconds(lambda: [act() for _ in range(5)])
    return seconds / 5 * count / CHUNK


def _read(world: World, name: str) -> int:
    """Read a whole release as an Arrow stream, and keep nothing of it."""
    view = history.values(world.server, acting_as(world.server, "ann"), name)
    return sum(len(block) for block in tabular_formats._written(view, "arrow"))


def main() -> None:
    """Measure one size with a number of threads, and print it as JSON."""
    size, threads = int(sys.argv[1]), int(sys.argv[2])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    with TemporaryDirectory(prefix="penstock-long-") as folder, fresh_world() as world:
        settings = world.server.settings.model_copy(
            update={"dimension_limit": 10**8, "data_anywhere": True}
        )
        vars(world.server)["settings"] = settings
        vars(world.server)["randomness"] = lambda: Stream.fresh(threads=threads)
        count, registered = _seconds(lambda: _register(world, Path(folder), size))
        peak_registered = _peak()
        ann = world.add_analyst("ann")
        world.ask(ann, "long", tier="public")
        answer, released = _seconds(lambda: world.ask(ann, "long", level=1000.0))
        _, read = _seconds(lambda: _read(world, answer.view.id))
        told = {
            "registered": count / registered,
            "released": count / released,
            "read": count / read,
            "peak": _peak(),
            "peak_registered": peak_registered,
            "alone": count / _alone(count),
        }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
