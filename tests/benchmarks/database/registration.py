"""Measure registering a contribution-bounded group-by over a million rows, against plain SQL.

The plain SQL is the same plan as somebody would write it who trusts the file: no cell is
read as text and cast, nothing is fingerprinted, and no noise is drawn.  Registration is all
of the use case: the spec is checked, the file fingerprinted, every tier charged and
committed; the file is read, the anchor drawn, sealed and committed.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from tests.benchmarks.database.crowd import HIGHEST, PLACES, write_crowd
from tests.benchmarks.database.world import PATIENCE, TIERS, World, fresh_world
from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets, fingerprints
from penstock.services.operations import home
from penstock.services.queries import registration
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.settings import Settings

GOAL = Goal(1.5, at_most=True)
DATASET = "crowd"
GROUPS, ROWS_PER_GROUP = 3, 4
PERSON: Mapping[str, object] = {"column": "person"}

PLAIN = """
WITH contributed AS (
  SELECT person, place, least(count(*), {most}) AS part
  FROM read_parquet('{file}') WHERE spent >= {least} GROUP BY person, place
), chosen AS (
  SELECT place, part, row_number() OVER (
    PARTITION BY person ORDER BY md5(
      length(person) || ':' || person || length(number) || ':' || number
      || length('{salt}') || ':' || '{salt}'), number) AS turn
  FROM contributed JOIN (VALUES {places}) AS places(name, number) ON name = place
)
SELECT place, sum(part) FROM chosen WHERE turn <= {groups} GROUP BY place ORDER BY place
"""


@dataclass(frozen=True)
class Setting:
    """Hold how many rows the file has, and how often both are done."""

    rows: int = 1_000_000
    rounds: int = 9


def measure(setting: Setting = Setting(), say: Print = print) -> Sequence[Figure]:
    """Measure registration and plain SQL in turns, then their memory.

    Each round takes another statistic.
    """
    with fresh_world() as world:
        file = world.home / "data" / "crowd.parquet"  # the only folder of data without a setting
        file.parent.mkdir()
        people = write_crowd(file, setting.rows)
        say(f"{setting.rows:,} rows of {people:,} people, {file.stat().st_size / 1e6:.1f} MB.")
        register_dataset(world, {"engine": "duckdb", "uri": str(file)})
        salt = _salt(world.server)
        numbers = {"registration": iter(range(HIGHEST)), "plain SQL": iter(range(HIGHEST))}
        taken = in_turns(
            setting.rounds,
            {
                "registration": lambda: register(world.server, next(numbers["registration"])),
                "plain SQL": lambda: plain(file, next(numbers["plain SQL"]), salt),
            },
        )
        _check(world, file, salt)
        world.server.database.close()
        peaks = {kind: _peak(kind, world.home, file, setting.rounds + 1) for kind in taken}
    return [
        *(median(name, times, "ms", 1e3) for name, times in taken.items()),
        ratio("registration over plain SQL", taken["registration"], taken["plain SQL"], GOAL),
        *(Figure(f"{name}: peak memory", peak, "MB") for name, peak in peaks.items()),
    ]


def query(number: int, bounds: tuple[int, int] = (GROUPS, ROWS_PER_GROUP)) -> dict[str, object]:
    """Return the spec of one statistic; each has a condition of its own.

    ``bounds`` are the most groups of a unit, and the most rows in each.
    """
    return {
        "name": f"visits-{number}",
        "dataset": DATASET,
        "where": [{"column": "spent", "op": ">=", "value": number}],
        "group_by": [{"column": "place"}],
        "aggregate": {"type": "count"},
        "contribution": {"max_groups": bounds[0], "max_rows_per_group": bounds[1]},
        "mechanism": "gaussian",
        "levels": {tier: {"level": 100 * level} for tier, level in TIERS.items()},
    }


def register(server: Server, number: int) -> None:
    """Register statistic ``number`` through the services."""
    register_query(server, query(number))


def register_query(server: Server, spec: Mapping[str, object]) -> None:
    """Register a query through the services."""
    registration.register(server, OPERATOR, ComputedQueryRequest.model_validate(spec))


def plain(file: Path, least: int, salt: str) -> NDArray[np.int64]:
    """Return the exact answer by plain SQL, over all places: shape ``(len(PLACES),)``."""
    text = PLAIN.format(
        file=file,
        least=least,
        most=ROWS_PER_GROUP,
        groups=GROUPS,
        salt=salt,
        places=", ".join(f"('{name}', '{number}')" for number, name in enumerate(PLACES)),
    )
    with duckdb.connect() as connection:
        found = dict(connection.execute(text).fetchall())
    return np.array([found.get(name, 0) for name in PLACES], dtype=np.int64)


def register_dataset(
    world: World, source: Mapping[str, str], unit: Mapping[str, object] = PERSON
) -> None:
    """Register what is at ``source`` as the dataset that the statistics are of."""
    number = {"type": "integer", "lower": 0, "upper": HIGHEST}
    spec = {
        "name": DATASET,
        "source": dict(source),
        "privacy_unit": dict(unit),
        "neighboring": "add_remove",
        "delta": 1e-6,
        "columns": {
            "person": {"type": "string"},
            "place": {"type": "string", "categories": list(PLACES)},
            "spent": number,
        },
        "budgets": {tier: {"epsilon": 200.0} for tier in TIERS},
    }
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


def _salt(server: Server) -> str:
    with server.database.read() as session:
        return fingerprints.salt_of(server, dataset_by_name(session, DATASET)).hex()


def _check(world: World, file: Path, salt: str) -> None:
    """Raise ``AssertionError`` unless a release lies around what plain SQL answers."""
    view = world.ask(world.add_analyst("ana"), "visits-1").view
    furthest = float(np.abs(view.values - plain(file, 1, salt)).max())
    assert 0 < furthest < 12 * view.level.value**0.5, f"a value is off by {furthest}"


def _peak(kind: str, folder: Path, file: Path, number: int) -> float:
    """Return the most memory of a process that does one of both and nothing else.

    It is in 10^6 bytes.
    """
    words = [
        sys.executable,
        "-m",
        "tests.benchmarks.database.registration",
        kind,
        str(folder),
        str(file),
    ]
    done = subprocess.run([*words, str(number)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(json.loads(done.stdout))


def _alone(kind: str, folder: Path, file: Path, number: int) -> None:
    if kind == "registration":
        register(home.open_server(Settings(home=folder, log_patience=PATIENCE)), number)
    else:
        plain(file, number, "")
    # Not ru_maxrss, which begins at what the parent had.
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = dict(line.split(":", 1) for line in lines)
    print(json.dumps(int(sizes["VmHWM"].split()[0]) * 1024 / 1e6))


if __name__ == "__main__":
    _alone(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
