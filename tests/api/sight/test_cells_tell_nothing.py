"""Test that two files that differ in one person's row differ only in released numbers.

Logs and refusals are equal byte for byte, and the same statements are run.
"""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.sight.recorded import Record, recording
from tests.api.world import World, open_world
from tests.databases.homes import Home, Homes

from penstock.connectors.duckdb import source
from penstock.connectors.duckdb.conformance import require_conformance
from penstock.errors import InvalidInput

HEADER = "person,town,age,cost,urgent\n"
OTHERS = [
    f"p{number},{'north' if number % 3 else 'south'},{number},2.5,true\n" for number in range(60)
]

ROWS = {
    "nobody": "",
    "somebody": "zoe,north,30,1.5,false\n",
    "somebody without a name": ",north,30,1.5,false\n",
    "somebody unreadable": "zoe,nowhere,thirty,NaN,perhaps\n",
    "somebody extreme": "zoe,south,-999999999999999999999,1e308,TRUE\n",
    "somebody hostile": '"\'; DROP TABLE x; --","a""b",\U0001f926,\\0,\x07\n',
    "somebody with many rows": "zoe,north,1,9,true\nzoe,south,2,-9,false\n" * 20,
    "somebody with a short line": "zoe\n",
}

PEOPLE: dict[str, Any] = {
    "name": "people",
    "source": {"engine": "duckdb"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
        "age": {"type": "integer", "lower": 0, "upper": 100, "missing": 50},
        "cost": {"type": "number", "lower": -4, "upper": 4, "step": 0.5},
        "urgent": {"type": "boolean"},
    },
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 8}},
}

QUERIES: dict[str, dict[str, Any]] = {
    "units": {"aggregate": {"type": "count_units"}, "group_by": [{"column": "town"}]},
    "rows": {"aggregate": {"type": "count"}, "where": [{"column": "age", "op": ">", "value": 9}]},
    "sums": {"aggregate": {"type": "sum", "column": "cost"}, "group_by": [{"column": "urgent"}]},
    "means": {"aggregate": {"type": "mean", "column": "age"}, "group_by": [{"column": "town"}]},
    "truths": {
        "aggregate": {"type": "count", "columns": ["urgent"]},
        "group_by": [{"column": "town"}],
        "structure": "correlated",
    },
    "towns": {
        "aggregate": {"type": "count_units"},
        "group_by": [{"column": "town"}],
        "structure": "correlated",
    },
    "bars": {"aggregate": {"type": "histogram", "column": "age", "bins": [0, 18, 65, 100]}},
}


def query(kind: str, **changes: object) -> dict[str, Any]:
    mechanism = {"units": "laplace", "rows": "poisson"}.get(kind, "gaussian")
    return {
        "name": kind,
        "dataset": "people",
        "contribution": {"max_groups": 2, "max_rows_per_group": 3},
        "mechanism": mechanism,
        "share": 0.1,
        **QUERIES[kind],
        **changes,
    }


def scenario(world: World, file: Path, record: Record, *, whole: bool) -> None:
    """Run a life with a file: registered, asked, refused, released, reported, changed.

    Where it is not the ``whole`` of it, it ends as soon as everything was registered.
    """

    def call(verb: str, path: str, body: object = None, by: str = "root") -> None:
        record.call(world, verb, f"/api/v1{path}", body, by)

    source, content = {"engine": "duckdb", "uri": str(file)}, file.read_text()
    dataset = {**PEOPLE, "source": source}
    columns = {**PEOPLE["columns"], "missing": {"type": "string"}}
    call("POST", "/datasets", {**dataset, "columns": columns})
    call("POST", "/datasets", dataset)
    call("POST", "/datasets", {**dataset, "name": "twin"})
    for name in QUERIES:
        call("POST", "/queries", query(name))
    call("POST", "/queries", query("units", name="again"))
    call("POST", "/queries", query("units", name="large", mechanism="gaussian", share=0.9))
    call("POST", "/queries", query("units", name="odd", group_by=[{"column": "age"}]))
    if whole:
        rest(call, file, content)


def rest(call: Callable[..., None], file: Path, content: str) -> None:
    """Run what comes after everything was registered."""
    for name in QUERIES:
        for by in ("ann", "ian", "ann"):
            call("POST", f"/queries/{name}/releases", {}, by)
        call("POST", f"/queries/{name}/releases", {"tier": "internal"}, "ann")
        call("POST", f"/queries/{name}/releases", {"epsilon": 0.01}, "ian")
        call("GET", f"/queries/{name}", by="ann")
    for path in ("/datasets/people", "/datasets/people/budget", "/datasets/people/dummy?rows=3"):
        call("GET", path, by="ann")
    call("GET", "/audit/exposure?users=ann,ian&dataset=people", by="olga")
    call("GET", "/audit/events?limit=1000", by="olga")
    with file.open("a") as stream:
        stream.write("\n")
    call("POST", "/queries", query("units", name="late", mechanism="gaussian"))
    call("POST", "/queries", query("bars", name="later", mechanism="laplace"))
    file.unlink()
    call("POST", "/queries", query("bars", name="gone", mechanism="laplace"))
    columns = {**PEOPLE["columns"], "missing": {"type": "string"}}
    second = file.with_name("people-2.csv")
    second.write_text(content + "p99,south,40,1,true\n")
    version = {"source": {"engine": "duckdb", "uri": str(second)}, "budgets": PEOPLE["budgets"]}
    call("POST", "/datasets/people/versions", {**version, "columns": columns})
    call("POST", "/datasets/people/versions", version)
    call("POST", "/datasets/people/versions", version)
    call("POST", "/queries", query("means", name="means again"))
    call("POST", "/queries/means again/releases", {}, "ann")
    call("GET", "/datasets/people/budget")


Life = Callable[..., Record]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all homes and files, one after the other."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def life(furnished: tuple[Home, dict[str, str]], homes: Homes, place: Path) -> Life:
    """Return the scenario over a copy of the home, each time at the same place, with these rows."""
    original, tokens = furnished
    # The engine is probed once a process, before anything is compared.
    require_conformance("csv")

    def live(rows: str, *, whole: bool = True) -> Record:
        file = place / "people.csv"
        file.write_text(HEADER + "".join([*OTHERS[:30], rows, *OTHERS[30:]]))
        copy = homes.copy(original, place / "home")
        with pytest.MonkeyPatch.context() as patch, recording(patch) as record:
            world = open_world(copy, dict(tokens))
            scenario(world, file, record, whole=whole)
            world.server.database.close()
        shutil.rmtree(copy.folder)
        return record

    return live


@pytest.fixture(scope="module")
def known() -> dict[str, Record]:
    """Return what happens where nobody is added, by the kind of database."""
    return {}


@pytest.fixture
def usual(backend: str, known: dict[str, Record], life: Life) -> Record:
    """Return what happens where nobody is added."""
    if backend not in known:
        known[backend] = life(ROWS["nobody"])
    return known[backend]


def test_the_scenario_meets_answers_and_refusals_of_every_kind(usual: Record) -> None:
    statuses = [status for _, _, status, _, _ in usual.of("answer")]
    assert {200, 201, 403, 409, 422} == set(statuses)
    codes = {answer.get("code") for *_, answer in usual.of("answer")}
    assert codes >= {"BUDGET_EXHAUSTED", "CONFLICT", "SOURCE_CHANGED", "INVALID_INPUT"}
    assert len(usual.log.getvalue().splitlines()) == len(statuses)
    assert any("FROM source" in str(asked) for asked in usual.of("duckdb"))
    assert any(text.startswith("INSERT INTO charge") for text, _ in usual.of("database"))


MORE = {"nobody", "somebody without a name", "somebody with many rows"}
"""What tells little beside the others; it is tried every night."""


@pytest.mark.parametrize(
    "somebody",
    [pytest.param(who, marks=[pytest.mark.nightly] if who in MORE else []) for who in ROWS],
)
def test_one_persons_rows_change_no_log_no_refusal_and_no_statement(
    life: Life, usual: Record, capfd: pytest.CaptureFixture[str], somebody: str
) -> None:
    capfd.readouterr()
    other = life(ROWS[somebody])
    assert other.log.getvalue() == usual.log.getvalue()
    assert other.of("answer") == usual.of("answer")
    assert other.of("duckdb") == usual.of("duckdb")
    assert other.of("database") == usual.of("database")
    assert other.happened == usual.happened
    assert capfd.readouterr() == ("", "")


def _told_in_the_log(answer: Any) -> Any:
    logging.getLogger("penstock").info("read %s", int(answer.sum()))
    return answer


def _told_in_a_refusal(answer: Any) -> Any:
    if answer.sum() > 60:
        raise InvalidInput("There are too many rows.")
    return answer


def _told_by_a_statement(answer: Any) -> Any:
    if answer.sum() > 60:
        source.connect().execute("SELECT 1")
    return answer


@pytest.mark.parametrize("leak", [_told_in_the_log, _told_in_a_refusal, _told_by_a_statement])
def test_what_depends_on_a_cell_is_found(
    life: Life, monkeypatch: pytest.MonkeyPatch, leak: Callable[[Any], Any]
) -> None:
    run = source.run
    monkeypatch.setattr(source, "run", lambda *more, **named: leak(run(*more, **named)))
    found = [life(ROWS[who], whole=False) for who in ("somebody", "nobody")]
    said = [(each.log.getvalue(), each.happened) for each in found]
    assert said[0] != said[1]
