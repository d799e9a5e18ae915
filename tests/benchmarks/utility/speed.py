"""Measure registering marginals over a million rows, reconstructing them, and previewing medians.

The plain SQL is one group-by for each of the sets, as somebody writes it who trusts the file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from tests.benchmarks.database.world import TIERS, World, fresh_world
from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.services.access.principals import OPERATOR
from penstock.services.computations.job_kinds import forget
from penstock.services.datasets import datasets
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.structures.marginals.lattice import Marginals, up_to
from penstock.structures.marginals.tables import reconstructed

SIZES = (2, 3, 4, 5, 6, 7, 8, 10)
GROUPS = 100
DATASET = "wide"
LEVELS = {tier: {"standard_deviation": level**0.5 * 30} for tier, level in TIERS.items()}
NAMES = tuple(f"c{number}" for number in range(len(SIZES)))
SETS = [[NAMES[place] for place in places] for places in up_to(len(SIZES), 2)]


@dataclass(frozen=True)
class Setting:
    """Hold how many rows the file has, and how often everything is done."""

    rows: int = 1_000_000
    rounds: int = 7


def measure(setting: Setting = Setting(), say: Print = print) -> Sequence[Figure]:
    """Measure all of them, each against its goal, and what is compared in turns."""
    tables = Marginals(SIZES, up_to(len(SIZES), 2))
    vector = np.arange(tables.dimension, dtype=np.float64)
    with fresh_world() as world:
        file = world.home / "data" / "wide.parquet"
        file.parent.mkdir()
        _write(file, setting.rows)
        _register(world, file)
        say(f"{setting.rows:,} rows of {len(SIZES)} columns, {len(SETS)} marginals.")
        numbers, others, names = count(1), count(1), count(1)
        taken = in_turns(
            setting.rounds,
            {
                "registration": lambda: registration.register(
                    world.server, OPERATOR, _marginals(next(numbers))
                ),
                "plain SQL": lambda: _plain(file, next(others)),
                "reconstruction": lambda: reconstructed(tables, vector),
            },
        )
        # By themselves: a preview forgets all that this process remembers, also that its engine
        # passed the questions that are asked of it once, and a registration would ask them again.
        taken |= in_turns(setting.rounds, {"preview": lambda: _previewed(world, next(names))})
    return [
        median("registering the marginals", taken["registration"], "ms", 1e3),
        median("the same group-bys", taken["plain SQL"], "ms", 1e3),
        ratio("registration over the group-bys", taken["registration"], taken["plain SQL"], _MOST),
        median("reconstructing them", taken["reconstruction"], "ms", 1e3, Goal(1000, at_most=True)),
        median(
            f"previewing a median by {GROUPS} groups",
            taken["preview"],
            "ms",
            1e3,
            Goal(500, at_most=True),
        ),
    ]


_MOST = Goal(1.5, at_most=True)


def _write(file: Path, rows: int) -> None:
    columns = ", ".join(
        f"((hash(i + {number}) >> 8) % {size})::INTEGER AS {name}"
        for number, (name, size) in enumerate(zip(NAMES, SIZES, strict=True))
    )
    group = f"((hash(i + 77) >> 8) % {GROUPS})::INTEGER AS place"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {columns}, {group}, (i % 1000)::INTEGER AS spent"  # noqa: S608 - fixed
            f" FROM range({rows}) AS r(i)) TO '{file}' (FORMAT parquet)"
        )


def _register(world: World, file: Path) -> None:
    columns: dict[str, Any] = {
        name: {"type": "integer", "categories": list(range(size))}
        for name, size in (*zip(NAMES, SIZES, strict=True), ("place", GROUPS))
    }
    spec = {
        "name": DATASET,
        "source": {"engine": "duckdb", "uri": str(file)},
        "privacy_unit": {"rows": 1},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "max_units": 2_000_000,
        "columns": {**columns, "spent": {"type": "integer", "lower": 0, "upper": 1000}},
        "budgets": {tier: {"epsilon": 200.0} for tier in TIERS},
    }
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


def _marginals(number: int) -> ComputedQueryRequest:
    """Return all marginals up to two columns of rows that spent so much: another statistic each."""
    return ComputedQueryRequest.model_validate(
        {
            "name": f"tables-{number}",
            "dataset": DATASET,
            "where": [{"column": "spent", "op": ">=", "value": number}],
            "aggregate": {"type": "marginals", "columns": list(NAMES), "up_to": 2},
            "mechanism": "gaussian",
            "levels": LEVELS,
        }
    )


def _plain(file: Path, least: int) -> int:
    """Return how many cells the group-bys have."""
    found = 0
    with duckdb.connect() as connection:
        for names in SETS:
            keys = ", ".join(names)
            rows = connection.execute(
                f"SELECT {keys}, count(*) FROM read_parquet('{file}')"  # noqa: S608 - fixed
                f" WHERE spent >= {least} GROUP BY {keys}"
            ).fetchall()
            found += len(rows)
    return found


def _previewed(world: World, number: int) -> None:
    forget()
    request = {
        "name": f"median-{number}",
        "dataset": DATASET,
        "group_by": [{"column": "place"}],
        "aggregate": {"type": "quantiles", "column": "spent", "probabilities": [0.5]},
        "mechanism": "gaussian",
        "levels": LEVELS,
    }
    query_preview.preview(world.server, OPERATOR, ComputedQueryRequest.model_validate(request))
