"""Test that bad input gets a clear error and loses nothing: every row of every table.

Each request is sent to the whole application over a furnished home.  It must be refused
as its row says, in words of ours that name the problem, and nothing that the home holds
may have changed; a good request is answered as before.
"""

import dataclasses
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input import wire
from tests.api.bad_input.faults import (
    AT_START,
    BUSY_TIMEOUT,
    LIVE,
    REQUESTS,
    WRITING,
    Fault,
    read_only,
)
from tests.api.bad_input.row import Row
from tests.api.bad_input.stage import (
    CANARY,
    FILE,
    Furnished,
    Original,
    Stage,
    ask,
    furnished_home,
    limit_pages,
    require_healed,
    require_told,
    set_up,
)
from tests.api.bad_input.tables import (
    asking,
    computed,
    datasets,
    keyed,
    levels,
    people,
    preview,
    proofs,
    streams,
    vectors,
)
from tests.api.bad_input.tables.commands import COMMANDS, SETTINGS, Command
from tests.api.bad_input.verdict import FOREIGN, judge, judge_words
from tests.databases.homes import SQLITE, Home, Homes

from penstock.application import create_app
from penstock.cli import program
from penstock.errors import PenstockError
from penstock.services.queries import registration
from penstock.settings import Settings


@pytest.fixture(scope="module")
def stages() -> Iterator[dict[str, Stage]]:
    """Yield the servers of this module, by the kind of their database."""
    made: dict[str, Stage] = {}
    yield made
    for stage in made.values():
        stage.world.server.database.close()


@pytest.fixture
def stage(
    backend: str,
    stages: dict[str, Stage],
    prototype: Callable[..., Home],
    furnished: Furnished,
    tmp_path_factory: pytest.TempPathFactory,
) -> Stage:
    """Return one server for all rows."""

    def make(homes: Homes, folder: Path) -> Home:
        folder.mkdir()
        stages[backend] = set_up(furnished, folder, homes)
        return stages[backend].home

    prototype(backend, "bad-input", make)
    return stages[backend]


def refused(stage: Stage, row: Row) -> None:
    """Send a row's request and judge the answer."""
    world = stage.world
    response = world.call(
        row.verb, row.path, row.body, by=row.by, headers=dict(row.headers), data=row.data
    )
    assert CANARY not in response.text
    assert "X-Evil" not in response.headers
    if row.status == 200:
        assert response.status_code == 200, response.text
        return
    problem = judge(world, response, row.status, row.expected_code)
    assert re.search(row.says, problem["detail"]), problem
    if row.pointer is not None:
        assert problem["errors"][0]["pointer"] == row.pointer, problem
    if row.status == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    if row.status == 405:
        assert response.headers["Allow"]


ROWS = [
    *(vectors.ROWS + computed.ROWS + datasets.ROWS),
    *(people.ROWS + asking.ROWS + wire.ROWS + levels.ROWS + keyed.ROWS + streams.ROWS),
    *preview.ROWS,
    *proofs.ROWS,
]


def test_every_row_has_a_name_of_its_own() -> None:
    names = [(row.name, row.path, row.by) for row in (*ROWS, *datasets.rows_of_file(FILE))]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name[:80])
def test_bad_input_gets_a_clear_error_and_loses_nothing(stage: Stage, row: Row) -> None:
    refused(stage, row)
    stage.require_unharmed()


OF_FILES = [row.name for row in datasets.rows_of_file(FILE)]


@pytest.mark.parametrize("name", OF_FILES)
def test_a_bad_file_gets_a_clear_error_and_loses_nothing(stage: Stage, name: str) -> None:
    rows = {row.name: row for row in datasets.rows_of_file(str(stage.file))}
    refused(stage, rows[name])
    stage.require_unharmed()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Return a home on SQLite, to be copied."""
    return furnished_home(tmp_path_factory.mktemp("furnished") / "home")


@pytest.fixture(scope="module")
def original(model: Furnished, tmp_path_factory: pytest.TempPathFactory) -> Original:
    """Return a stage to be put back."""
    return Original(model, tmp_path_factory.mktemp("original"))


@pytest.fixture
def own(original: Original) -> Iterator[Stage]:
    """Yield a server on SQLite for one test."""
    made = original.put_back()
    yield made
    made.world.server.database.close()


GOOD: list[tuple[str, str, str, Any, str]] = [
    ("POST", vectors.QUERIES, "query", vectors.GOOD, "root"),
    ("POST", vectors.QUERIES, "query", {**vectors.SHARED, "name": "shared"}, "root"),
    ("POST", vectors.QUERIES, "query", computed.GOOD, "root"),
    ("POST", vectors.QUERIES, "query", {**computed.SUM, "name": "sum"}, "root"),
    ("POST", datasets.DATASETS, "dataset", datasets.GOOD, "root"),
    ("POST", people.TIERS, "tier", people.TIER, "root"),
    ("POST", people.USERS, "user", people.USER, "root"),
    ("PATCH", people.ANN, "clearance", people.CHANGE, "root"),
    ("POST", people.TOKENS, "token", people.TOKEN, "root"),
    ("PATCH", levels.VISITS, "query_level", levels.GOOD, "root"),
    ("PATCH", levels.VISITS, "release", levels.FINER, "root"),
    ("PATCH", levels.BY_TOWN, "query_level", levels.OF_FILE, "root"),
    ("POST", asking.ASK, "release", {"epsilon": 0.05}, "ann"),
]


@pytest.mark.parametrize(("verb", "path", "table", "body", "by"), GOOD)
def test_what_is_spoiled_was_good_and_changes_what_the_snapshot_sees(
    own: Stage, verb: str, path: str, table: str, body: Any, by: str
) -> None:
    """So a row is refused for its flaw alone, and a change would show."""
    own.world.answer(verb, path, body, by=by)
    after = own.now()
    changed = {name for name in after if after[name] != own.before.get(name)}
    assert {f"table {table}", "table leaf"} <= changed


def test_the_file_is_good_but_for_being_registered_already(own: Stage, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(own.file.read_text() + "x,north,1\n")
    body = datasets.of_file(str(other), name="fresh")
    own.world.answer("POST", datasets.DATASETS, body, by="root")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "No.",
        "Something is missing",
        "List should have at least 1 item after validation, not 0.",
        "Input should be greater than 0.",
        "(sqlite3.OperationalError) database is locked.",
        "'NoneType' object is not iterable, so that it failed.",
        "Expecting property name enclosed in double quotes: line 1.",
        "Traceback (most recent call last): it goes on and on.",
        "y" * 1001 + ".",
    ],
)
def test_words_of_others_are_found(words: str) -> None:
    with pytest.raises(AssertionError):
        judge_words(words)


@pytest.mark.parametrize("fault", LIVE, ids=lambda fault: fault.name)
def test_what_breaks_under_the_server_is_told_and_heals(own: Stage, fault: Fault) -> None:
    own.world.server.database.close()  # so that nothing is left in the write-ahead log
    with fault.harm(own.place):
        require_told(own, fault)
    require_healed(own)


def test_a_read_only_database_is_told_and_heals(model: Furnished) -> None:
    """In a folder that every user reaches, since file modes do not bind root."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        own = set_up(model, Path(name), Homes(None))
        ask(own, "ready")
        own.world.server.database.close()
        fault = Fault("read-only", read_only, "DATABASE_UNAVAILABLE", "read-only", WRITING)
        with fault.harm(own.place):
            require_told(own, dataclasses.replace(fault, retry=True))
        require_healed(own)
        own.world.server.database.close()


WIDE = {**vectors.GOOD, "keys": ["k" * 500 + str(n) for n in range(500)], "values": [1] * 500}
LONG = {**vectors.GOOD, "keys": None, "values": [1] * 20_000}


def test_a_full_disk_is_told_and_heals(own: Stage) -> None:
    limit_pages(own, 0)
    response = own.world.call("POST", vectors.QUERIES, WIDE, by="root")
    problem = judge(own.world, response, 503, "DATABASE_UNAVAILABLE")
    assert "is full; nothing was changed. Free some space" in problem["detail"]
    own.require_unharmed()
    limit_pages(own, 10_000)
    own.world.answer("POST", vectors.QUERIES, WIDE, by="root")


def test_a_disk_that_is_full_after_the_charge_costs_the_budget_once(own: Stage) -> None:
    """The query waits, charged and without a value, until the same spec comes again."""
    limit_pages(own, 20)
    response = own.world.call("POST", vectors.QUERIES, LONG, by="root")
    problem = judge(own.world, response, 503, "DATABASE_UNAVAILABLE")
    assert "is charged and waits for its data: register the same spec again" in problem["detail"]
    charged = own.now()
    refusal = own.world.call("POST", "/api/v1/queries/fresh/releases", {}, by="ann")
    assert judge(own.world, refusal, 409, "CONFLICT")["detail"].startswith(
        "Query 'fresh' is pending"
    )
    limit_pages(own, 10_000)
    own.world.answer("POST", vectors.QUERIES, LONG, by="root")
    assert own.now()["table charge"] == charged["table charge"]
    own.world.answer("POST", "/api/v1/queries/fresh/releases", {}, by="ann")


def test_a_file_that_changes_after_the_charge_costs_the_budget_once(
    own: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = own.file.read_bytes()
    anchor = registration._anchor

    def meanwhile(*arguments: Any) -> None:
        own.file.write_bytes(content + b"x,north,1\n")
        anchor(*arguments)

    monkeypatch.setattr(registration, "_anchor", meanwhile)
    problem = judge(own.world, ask(own, "computed"), 409, "SOURCE_CHANGED")
    assert "is charged and waits for its data" in problem["detail"]
    charged = own.now()
    monkeypatch.undo()
    assert ask(own, "computed").status_code == 409
    own.file.write_bytes(content)
    assert ask(own, "computed").status_code == 201
    assert own.now()["table charge"] == charged["table charge"]


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return the operator's program in a folder of its own: exit code and both streams."""
    for name in [name for name in os.environ if name.startswith("PENSTOCK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PENSTOCK_BUSY_TIMEOUT", str(BUSY_TIMEOUT))
    monkeypatch.setenv("PENSTOCK_DATA_ANYWHERE", "on")
    folder = tmp_path / "operator"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def started(*arguments: object) -> None:
        raise AssertionError("a server was started")

    def run(home: Path, *words: str) -> tuple[int, str, str]:
        monkeypatch.setenv("PENSTOCK_HOME", str(home))
        capfd.readouterr()
        code = program.run(words)
        return code, *capfd.readouterr()

    monkeypatch.setattr(os, "execve", started)
    return run


def require_plain(result: tuple[int, str, str], code: int, says: str) -> None:
    """Raise unless a command failed in one message of ours, with nothing on standard output."""
    found, out, err = result
    assert (found, out) == (code, ""), err
    assert "Error: " in err
    assert re.search(says, err, re.DOTALL), err
    assert FOREIGN.findall(err) == []
    assert CANARY not in err


@pytest.mark.only(SQLITE)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.name}: {command.says}")
def test_a_bad_command_exits_with_its_code_and_loses_nothing(
    stage: Stage, run: Run, command: Command
) -> None:
    if command.content is not None:
        Path(command.spec).write_bytes(command.content)
    require_plain(run(stage.place.home, *command.words), command.code, command.says)
    stage.require_unharmed()


@pytest.mark.only(SQLITE)
@pytest.mark.parametrize(("name", "value", "says"), SETTINGS)
def test_a_bad_setting_is_told(
    stage: Stage, run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    result = run(stage.place.home, "tier", "list")
    require_plain(result, 1, says)
    assert "secret" not in result[2]
    stage.require_unharmed()


OPERATING = ["tier list", "tier create new", "release visits --as ann", "serve --port 0"]


@pytest.mark.parametrize("fault", AT_START, ids=lambda fault: fault.name)
def test_a_broken_home_is_told_to_the_operator_and_starts_no_server(
    own: Stage, run: Run, fault: Fault
) -> None:
    own.world.server.database.close()
    home = own.place.home
    with fault.harm(own.place):
        for words in OPERATING:
            require_plain(run(home, *words.split()), 1, fault.says)
        assert run(home, "status")[0] == 1
        with pytest.raises(PenstockError) as caught:
            create_app(Settings(home=home, busy_timeout=BUSY_TIMEOUT))
        assert caught.value.code == fault.code
    own.require_unharmed()
    assert run(home, "release", "visits", "--as", "ann")[0] == 0


def test_a_locked_database_and_a_changed_file_are_told_to_the_operator(
    own: Stage, run: Run
) -> None:
    Path("computed.json").write_text(json.dumps(REQUESTS["computed"].body))
    for fault, words in [
        (LIVE[0], "tier create new"),
        *((fault, "query register computed.json") for fault in LIVE if fault.status == 409),
    ]:
        with fault.harm(own.place):
            require_plain(run(own.place.home, *words.split()), 1, fault.says)
        own.require_unharmed()
    assert run(own.place.home, "query", "register", "computed.json")[0] == 0
