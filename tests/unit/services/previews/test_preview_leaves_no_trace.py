"""Test that a preview touches neither data nor state: no file, no key, no noise, no row."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import pytest
from pydantic import TypeAdapter
from sqlalchemy import Engine, event
from tests.unit.services.previews.people import AGGREGATES, BY_TOWN, PEOPLE, ROWS, ask, register
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.connectors.duckdb import source_file
from penstock.encryption import KeyRing
from penstock.persistence.statements.prepared import Compiled
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.previews import dummy_answers, stream_preview
from penstock.services.schemas.queries import DatasetRequest, QueryRequest
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams

COUNT = {**BY_TOWN, **AGGREGATES["count"], "name": "towns", "mechanism": "gaussian", "share": 0.1}
OTHER = {**COUNT, "name": "ages", **AGGREGATES["ages"]}
IN_SQL = {
    "name": "old",
    "sql": "SELECT COUNT(*) FROM people WHERE age > 60",
    **{part: COUNT[part] for part in ("contribution", "mechanism", "share")},
}


@contextmanager
def statements() -> Iterator[list[str]]:
    """Yield what is run on any database meanwhile.

    A statement outside of transactions goes to the driver without SQLAlchemy's events.
    """
    found: list[str] = []
    opened = Compiled.cursor

    def cursor(statement: Compiled, connection: object) -> object:
        found.append(" ".join(statement.text.split()))
        return opened(statement, connection)

    def run(_: Any, __: Any, text: str, *___: Any) -> None:
        found.append(" ".join(text.split()))

    event.listen(Engine, "before_cursor_execute", run)
    try:
        with mock.patch.object(Compiled, "cursor", cursor):
            yield found
    finally:
        event.remove(Engine, "before_cursor_execute", run)


def refused(*_: object, **__: object) -> NoReturn:
    raise AssertionError("touched")


@pytest.fixture
def bare(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Register one query; then delete the file, and let whoever reaches for a key fail."""
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    spec = {**PEOPLE, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    register(world, COUNT)
    path.unlink()
    for name in ("wrap", "unwrap", "rewrap"):
        monkeypatch.setattr(KeyRing, name, refused)
    for name in ("locate", "stamp", "check_unchanged"):
        monkeypatch.setattr(source_file, name, refused)
    return world


@pytest.mark.parametrize("caller", ["operator", "pia"])
def test_neither_file_nor_keys_nor_noise_nor_rows_are_touched(bare: World, caller: str) -> None:
    by = OPERATOR if caller == "operator" else bare.person(caller)
    taken = bare.streams.taken
    with statements() as found:
        for spec in (OTHER, VISITS, IN_SQL, {"query": "towns"}):
            assert ask(bare, spec, by).tiers
    assert bare.streams.taken == taken
    require_only_looked(found)


@pytest.mark.parametrize("caller", ["operator", "pia"])
def test_answers_on_made_up_rows_touch_nothing_either(bare: World, caller: str) -> None:
    by = OPERATOR if caller == "operator" else bare.person(caller)
    taken = bare.streams.taken
    with statements() as found:
        for spec in (OTHER, IN_SQL):
            query = TypeAdapter[Any](QueryRequest).validate_python(spec)
            assert dummy_answers.answer(bare.server, by, query, 50, 0).numbers
    assert bare.streams.taken == taken
    require_only_looked(found)


@pytest.mark.parametrize("caller", ["operator", "pia"])
def test_previews_of_streams_touch_nothing_either(bare: World, caller: str) -> None:
    by = OPERATOR if caller == "operator" else bare.person(caller)
    spec = {
        "name": "hits",
        "dataset": "sites",
        "mechanism": "laplace",
        "length": 100,
        "max_steps_per_unit": 1,
        "share": 0.1,
    }
    request = StreamRequest.model_validate(spec)
    taken = bare.streams.taken
    with statements() as found:
        assert stream_preview.preview_stream(bare.server, by, request).structures
    assert bare.streams.taken == taken
    require_only_looked(found)
    with statements() as found, pytest.raises(AssertionError, match="touched"):
        streams.open_stream(bare.server, OPERATOR, request)


def require_only_looked(found: list[str]) -> None:
    assert found
    for text in found:
        assert text.startswith(("SELECT ", "BEGIN", "PRAGMA query_only", "SET ")), text
        for table in ("release", "leaf", '"grant"'):
            assert f"FROM {table}" not in text


def test_the_proof_can_fail(bare: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with statements() as found, pytest.raises(AssertionError, match="touched"):
        register(bare, OTHER)
    assert found
    with statements(), pytest.raises(AssertionError, match="touched"):
        register(bare, VISITS)
    monkeypatch.undo()
    with statements() as found:
        register(bare, VISITS)
    assert any(text.startswith("INSERT INTO ") for text in found)
    with pytest.raises(AssertionError):
        require_only_looked(found)
