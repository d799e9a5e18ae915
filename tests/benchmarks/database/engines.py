"""Measure registering a contribution-bounded group-by on each engine, against its own plain SQL.

The plain SQL is the same plan in the engine's own words, by somebody who trusts the cells.  Both
are in processor seconds, of this process and of the engine's, which other work on the machine
hardly changes.  Each engine has a process of its own, whose peak of memory is that of a worker;
DuckDB and chdb compute inside it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from pydantic import SecretStr
from tests.benchmarks.database import registration
from tests.benchmarks.database.crowd import PLACES, write_crowd
from tests.benchmarks.database.registration import GOAL, GROUPS, ROWS_PER_GROUP
from tests.benchmarks.database.world import PATIENCE, World, fresh_world
from tests.benchmarks.figures import Figure, Print
from tests.benchmarks.pairing import median, ratio
from tests.benchmarks.served.compared.processor import processor_seconds
from tests.databases import cluster as postgresql_server
from tests.databases import spark as spark_server
from tests.databases import warehouse
from tests.databases.clickhouse import embedded
from tests.databases.spark import Cluster

from penstock.connectors.spark import session
from penstock.services.operations import home
from penstock.settings import Settings

SIZE, CHOSEN = "ENGINE_ROWS", "ENGINES"
"""Environment variables: how many rows, and which engines, separated by spaces."""

ENGINES = ("duckdb", "postgresql", "clickhouse", "spark")
PLAIN = """
WITH contributed AS (
  SELECT person, place, least(count(*), {most}) AS part
  FROM {source} WHERE spent >= {least} GROUP BY person, place
), chosen AS (
  SELECT place, part, row_number() OVER (PARTITION BY person ORDER BY {digest}, number) AS turn
  FROM contributed JOIN {places} ON name = place
)
SELECT place, sum(part) AS total FROM chosen WHERE turn <= {groups} GROUP BY place
"""
TEXT = "concat(length(person), ':', person, length(number), ':', number, '64:', '{salt}')"


@dataclass(frozen=True)
class Setting:
    """Hold how many rows there are, on which engines, and how often both are done."""

    rows: int = 10_000_000
    engines: Sequence[str] = ENGINES
    rounds: int = 3


@dataclass(frozen=True)
class Running:
    """Hold an engine with the crowd in it: the dataset's source, and how its own SQL is run."""

    source: Mapping[str, str]
    connection: str | None
    plain: Callable[[str], Mapping[str, int]]
    relation: str
    process: int | None = None
    digest: str = f"md5({TEXT})"
    places: str = "(VALUES {rows}) AS places(name, number)"

    def total(self, least: int) -> Mapping[str, int]:
        """Return the answer by the engine's own SQL, by place."""
        rows = ", ".join(f"('{name}', '{number}')" for number, name in enumerate(PLACES))
        text = PLAIN.format(
            source=self.relation,
            least=least,
            most=ROWS_PER_GROUP,
            groups=GROUPS,
            digest=self.digest.format(salt="0" * 64),
            places=self.places.format(rows=rows),
        )
        return self.plain(text)


def measure(setting: Setting | None = None, say: Print = print) -> Sequence[Figure]:
    """Measure every engine in a process of its own."""
    chosen = setting or Setting(
        int(float(os.environ.get(SIZE, "1e7"))), os.environ.get(CHOSEN, " ".join(ENGINES)).split()
    )
    figures: list[Figure] = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "crowd.parquet"
        people = write_crowd(file, chosen.rows)
        say(f"{chosen.rows:,} rows of {people:,} people, {file.stat().st_size / 1e6:.1f} MB.")
        for engine in chosen.engines:
            figures += _measured(engine, file, chosen.rounds)
    return figures


def _measured(engine: str, file: Path, rounds: int) -> Sequence[Figure]:
    words = [sys.executable, "-m", __name__, engine, str(file), str(rounds)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    ours, own = told["registration"], told["plain SQL"]
    return [
        median(f"{engine}: registration", ours, "s"),
        median(f"{engine}: its own SQL", own, "s"),
        ratio(f"{engine}: registration over its own SQL", ours, own, GOAL),
        Figure(f"{engine}: peak of the worker", told["peak"], "MB"),
    ]


@contextmanager
def _duckdb(file: Path, folder: Path) -> Iterator[Running]:
    data = folder / "data" / file.name
    data.parent.mkdir(exist_ok=True)
    data.hardlink_to(file)

    def plain(text: str) -> Mapping[str, int]:
        with duckdb.connect() as connection:
            return dict(connection.execute(text).fetchall())

    yield Running({"engine": "duckdb", "uri": str(data)}, None, plain, f"read_parquet('{data}')")


@contextmanager
def _postgresql(file: Path, _: Path) -> Iterator[Running]:
    import psycopg

    programs = postgresql_server.programs()
    assert programs is not None, "PostgreSQL is not installed"
    cluster = postgresql_server.launch(programs)
    try:
        with warehouse.made(cluster) as made:
            types = {"person": "text", "place": "text", "spent": "bigint"}
            made.fill("crowd", types, [])
            csv = file.with_suffix(".csv")
            duckdb.sql(f"COPY (FROM read_parquet('{file}')) TO '{csv}' (HEADER false)")
            with cluster.administered(made.database) as connection:
                copying = connection.cursor().copy("COPY data.crowd FROM STDIN (FORMAT csv)")
                with csv.open("rb") as lines, copying as copy:
                    while block := lines.read(1 << 20):
                        copy.write(block)
                connection.execute("ANALYZE data.crowd")
            csv.unlink()

            def plain(text: str) -> Mapping[str, int]:
                with psycopg.connect(made.address) as connection:
                    rows: list[tuple[str, Any]] = connection.execute(text.encode()).fetchall()
                    return {place: int(total) for place, total in rows}

            yield Running(
                {"engine": "postgresql", "connection": "here", "table": "data.crowd"},
                made.address,
                plain,
                "data.crowd",
                cluster.process.pid,
            )
    finally:
        cluster.stop()
        cluster.remove()


@contextmanager
def _clickhouse(file: Path, folder: Path) -> Iterator[Running]:
    tables = folder / "clickhouse"
    with embedded(tables) as made:
        made.run(
            "CREATE TABLE data.crowd (person String, place String, spent Int64)"
            " ENGINE = MergeTree ORDER BY tuple()"
        )
        made.run(f"INSERT INTO data.crowd SELECT * FROM file('{file}')")  # noqa: S608

        def plain(text: str) -> Mapping[str, int]:
            rows = made.connection.query(text, "ArrowTable").to_pylist()
            return {row["place"]: row["total"] for row in rows}

        yield Running(
            {"engine": "clickhouse", "connection": "here", "table": "data.crowd"},
            made.address,
            plain,
            "data.crowd",
            digest=f"lower(hex(MD5({TEXT})))",
            places="values('name String, number String', {rows}) AS places",
        )


@contextmanager
def _spark(file: Path, _: Path) -> Iterator[Running]:
    # With Java as it is; the tests' own starts faster and computes slower.
    with session.reading(spark_server.ADDRESS):
        cluster = Cluster(session._started[0].session, spark_server.ADDRESS)
    try:
        cluster.define("crowd", f"SELECT * FROM parquet.`{file}`")  # noqa: S608

        def plain(text: str) -> Mapping[str, int]:
            rows = cluster.spark.sql(text).toArrow().to_pylist()
            return {row["place"]: row["total"] for row in rows}

        yield Running(
            {"engine": "spark", "connection": "here", "table": "global_temp.crowd"},
            spark_server.ADDRESS,
            plain,
            "global_temp.crowd",
        )
    finally:
        session.stop()


OPENINGS: Mapping[str, Any] = {
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "clickhouse": _clickhouse,
    "spark": _spark,
}


def _peak() -> float:
    """Return the most memory since the last call, in 10^6 bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    Path("/proc/self/clear_refs").write_text("5")
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def main() -> None:
    """Measure one engine, and print it as JSON."""
    engine, file, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    with fresh_world() as world, OPENINGS[engine](file, world.home) as running:
        secret = SecretStr(running.connection or "none")
        settings = Settings(home=world.home, log_patience=PATIENCE, connections={"here": secret})
        server = home.open_server(settings)
        registration.register_dataset(World(server), dict(running.source))
        processes = [each for each in (os.getpid(), running.process) if each is not None]

        def seconds(act: Callable[[], object]) -> float:
            begun = processor_seconds(*processes)
            act()
            return processor_seconds(*processes) - begun

        taken: dict[str, list[float]] = {"registration": [], "plain SQL": []}
        peaks = []
        for number in range(rounds):
            _peak()
            taken["registration"].append(
                seconds(lambda number=number: registration.register(server, number))  # type: ignore[misc]
            )
            peaks.append(_peak())
            taken["plain SQL"].append(seconds(lambda number=number: running.total(number)))  # type: ignore[misc]
        assert set(running.total(1)) == set(PLACES), "the plain SQL found other places"
        server.database.close()
    print(json.dumps({**taken, "peak": max(peaks)}))


if __name__ == "__main__":
    main()
