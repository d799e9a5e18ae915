"""Test that DuckDB can read the one file and do nothing else; the bits do not depend on threads."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, query_of, stated

from penstock.connectors.duckdb.source import connect, fits, lock, run
from penstock.connectors.duckdb.source_file import locate
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.statements.statement import Statement
from penstock.errors import Unavailable
from penstock.randomness import Stream


@pytest.fixture(scope="module")
def locked(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Folder, duckdb.DuckDBPyConnection]:
    """Return a connection that may read an empty file, beside one with a secret in it."""
    folder = Folder(tmp_path_factory.mktemp("locked"))
    folder.csv([])
    folder.csv([("secret", "a", 1, 1, "", "")], "other.csv")
    (folder.path / "link.csv").symlink_to(folder.path / "other.csv")
    connection = connect()
    lock(connection, locate(dataset_of(), folder.path))
    return folder, connection


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{folder}/other.csv')",
        "SELECT * FROM read_text('{folder}/other.csv')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/written.csv'",
        "COPY (SELECT 1) TO '{folder}/visits.csv'",
        "ATTACH '{folder}/written.db'",
        "EXPORT DATABASE '{folder}/written'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SELECT * FROM read_csv('https://example.org/visits.csv')",
        "SET enable_external_access = true",
        "SET allowed_paths = ['{folder}/other.csv']",
        "SET temp_directory = '{folder}'",
        "SET autoload_known_extensions = true",
        "RESET lock_configuration",
        "CREATE PERSISTENT SECRET s (TYPE S3)",
        "SELECT * FROM folder",
        "SELECT * FROM '{folder}/other.csv'",
        "SELECT * FROM read_csv('{folder}/../{name}/other.csv')",
        "SELECT * FROM read_csv(['{folder}/visits.csv', '{folder}/other.csv'])",
        "SELECT * FROM read_csv('{folder}/*.csv')",
        "SELECT * FROM read_csv('{folder}/link.csv')",
        "SELECT * FROM sniff_csv('{folder}/other.csv')",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM parquet_metadata('{folder}/other.csv')",
        "SELECT getenv('HOME')",
        "COPY source FROM '{folder}/other.csv'",
        "COPY (SELECT 1) TO '/dev/stderr'",
        "COPY (SELECT 1) TO '{folder}/visits.csv' (FORMAT parquet)",
        "IMPORT DATABASE '{folder}'",
        "LOAD '{folder}/other.csv'",
        "FORCE INSTALL httpfs FROM 'https://example.org'",
        "SET allowed_directories = ['{folder}']",
        "SET home_directory = '{folder}'",
        "SET extension_directory = '{folder}'",
        "SET secret_directory = '{folder}'",
        "SET log_query_path = '{folder}/queries.log'",
        "PRAGMA enable_profiling = 'json'",
        "PRAGMA profiling_output = '{folder}/profile.json'",
        "SET threads = 64",
        "SET memory_limit = '64GB'",
        "SET python_enable_replacements = true",
        "SET lock_configuration = false",
        "CALL enable_logging(storage = 'file', storage_path = '{folder}')",
    ],
)
def test_a_locked_connection_refuses(
    locked: tuple[Folder, duckdb.DuckDBPyConnection], statement: str
) -> None:
    folder, connection = locked
    before = _contents(folder)
    with pytest.raises(duckdb.Error):
        connection.execute(statement.format(folder=folder.path, name=folder.path.name)).fetchall()
    assert _contents(folder) == before


def _contents(folder: Folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir()}


def test_a_locked_connection_reads_its_own_file(folder: Folder) -> None:
    folder.csv([("ann", "a", 1, 1, "", "")])
    file = locate(dataset_of(), folder.path)
    connection = connect(threads=2, memory="200MB")
    lock(connection, file)
    # S608: a temporary path of the test's own.
    read = connection.execute(f"SELECT count(*) FROM read_csv('{file.path}')")  # noqa: S608
    assert read.fetchall() == [(1,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 AS value; COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
        "COPY (SELECT 1) TO '{file}' (USE_TMP_FILE false)",
        "ATTACH '{file}' AS other",
        "CREATE TABLE value AS SELECT 1",
        "PRAGMA database_list",
        "",
    ],
)
def test_nothing_runs_but_one_select(folder: Folder, text: str) -> None:
    folder.csv([("ann", "a", 1, 1, "", "")])
    dataset, before = dataset_of(), _contents(folder)
    file, plan = locate(dataset, folder.path), interpret(dataset, query_of())
    statement = Statement(plan, text.format(file=file.path), "", ("value",))
    with pytest.raises(RuntimeError, match="one SELECT"):
        run(statement, file, folder.names, SALT)
    assert _contents(folder) == before


def test_too_little_memory_is_said_and_spills_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.path)
    folder.parquet({"person": [f"someone with a long name, number {n}" for n in range(300_000)]})
    dataset = dataset_of("visits.parquet", columns={"person": {"type": "string"}})
    before = sorted(folder.path.iterdir())
    with pytest.raises(Unavailable, match="too little memory"):
        answer(
            dataset,
            stated(dataset, query_of({"type": "count_units"})),
            salt=SALT,
            fingerprint_key=KEY,
            fingerprint=fingerprint(dataset, KEY, Sources(folder.path)),
            sources=Sources(folder.path, memory="12MB"),
        )
    assert sorted(folder.path.iterdir()) == before


def test_there_is_no_folder_to_spill_to_and_no_extension_may_come(folder: Folder) -> None:
    folder.csv([])
    connection = connect()
    lock(connection, locate(dataset_of(), folder.path))
    names = ["temp_directory", "autoload_known_extensions", "autoinstall_known_extensions"]
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    assert connection.execute(f"SELECT {settings}").fetchall() == [("", False, False)]


def _many_visits(folder: Folder, rows: int) -> None:
    generator = Stream.from_key(bytes(32)).generator
    folder.parquet(
        {
            "person": [f"p{n}" for n in generator.integers(0, rows // 8, rows)],
            "ward": np.array(["a", "b", "c", "d"])[generator.integers(0, 4, rows)],
            "age": generator.integers(-10, 130, rows),
            "cost": generator.normal(0, 40, rows),
        }
    )


@pytest.mark.slow
def test_the_same_bits_come_over_repeated_runs_and_thread_counts(folder: Folder) -> None:
    _many_visits(folder, 300_000)
    columns = {name: dataset_of().columns[name] for name in ("person", "ward", "age", "cost")}
    dataset = dataset_of("visits.parquet", columns=columns)
    query = query_of(
        {"type": "sum", "column": "cost"},
        group_by=[{"column": "ward"}, {"column": "age", "bins": list(range(0, 121, 10))}],
    )
    first = folder.ask(dataset, query).tobytes()
    assert np.frombuffer(first, dtype=np.int64).any()
    for threads in (1, 2, 3, 4, 4, 4):
        assert folder.ask(dataset, query, threads=threads).tobytes() == first


def test_csv_gives_the_bits_of_parquet_whatever_the_threads(folder: Folder) -> None:
    _many_visits(folder, 40_000)
    connection = duckdb.connect()
    connection.execute(
        f"COPY (FROM read_parquet('{folder.path}/visits.parquet')) TO '{folder.path}/visits.csv'"
    )
    columns = {name: dataset_of().columns[name] for name in ("person", "ward", "age", "cost")}
    query = query_of({"type": "sum", "column": "cost"}, group_by=[{"column": "ward"}])
    wanted = folder.ask(dataset_of("visits.parquet", columns=columns), query).tolist()
    for threads in (1, 4):
        found = folder.ask(dataset_of(columns=columns), query, threads=threads)
        assert found.tolist() == wanted


def test_a_text_that_another_version_wrote_fits() -> None:
    written = stated(dataset_of(), query_of())
    assert fits(written)
    assert fits(replace(written, text=written.text.replace("place <=", "0 + place <=")))


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("$salt", "$grain"),
        ("FROM source", "FROM visits"),
        ("FROM source", "FROM read_csv('/etc/hostname')"),
        ("keys_0", "groups_0"),
        ("AS part_answer", "AS total"),
        ("AS part_answer", "AS part_answer, 1 AS more"),
        ("AS BIGINT) AS part_answer", "AS DOUBLE) AS part_answer"),
        ("totals.key AS key", "0.5 + totals.key AS key"),
        ("totals.key AS key", "totals.key AS place"),
        ("FROM totals\n", "FROM totals; SELECT 1\n"),
        ("FROM totals\n", "RIGHT JOIN totals ON TRUE\n"),
        ("WITH typed", "CREATE TABLE other AS WITH typed"),
        ("WITH typed", "WITHOUT typed"),
    ],
)
def test_a_text_that_cannot_be_run_or_decoded_does_not_fit(part: str, other: str) -> None:
    written = stated(dataset_of(), query_of(group_by=[{"column": "ward"}]))
    changed = written.text.replace(part, other)
    assert changed != written.text
    assert not fits(replace(written, text=changed))
