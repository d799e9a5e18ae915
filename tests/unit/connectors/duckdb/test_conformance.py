"""Test that an engine with other answers than the known ones reads no data."""

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, query_of, stated

from penstock.connectors.duckdb import conformance, source
from penstock.connectors.duckdb.conformance import Form
from penstock.connectors.planning.prepare import answer, check_source, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.statements.statement import Statement
from penstock.errors import InvalidInput, Unavailable

FORMS: tuple[Form, ...] = ("csv", "parquet", "stream")


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Begin and end every test with an engine that was not asked yet."""
    conformance.require_conformance.cache_clear()
    yield
    conformance.require_conformance.cache_clear()


@pytest.mark.parametrize("form", FORMS)
def test_the_installed_engine_answers_as_it_should(form: Form) -> None:
    assert conformance.differences(form) == []
    conformance.require_conformance(form)


# What other engines, and other versions of one, make of the same text.
OTHERWISE = {
    "halves are rounded away from zero": (
        r"(?s)CAST\(floor\((\s*least.*?) \+ CAST\('0\.5' AS DOUBLE\)",
        r"CAST(round(\1",
    ),
    "infinity is a number": (r"isfinite\(", "NOT isnan("),
    "NaN is a number": (r"isfinite\(", "NOT isinf("),
    "a bad cast is 0": (r'TRY_CAST\("cost" AS DOUBLE\)', r"coalesce(\g<0>, 0)"),
    "fractions are integers": (
        r'(?s)CASE\s+WHEN TRY_CAST\("age".*?THEN (.*?)\s+END',
        r"\1",
    ),
    "text is normalized": (r'"ward" AS', 'nfc_normalize("ward") AS'),
    "text has no case": (r'CAST\("person" AS VARCHAR\)', 'lower("person")'),
    "another hash": (r"md5\(", "sha256("),
    "lengths in bytes": (r"length\(", "strlen("),
    "sums are not clamped": (
        r"least\(greatest\(sum\(value\), CAST\(-4 AS HUGEINT\)\), CAST\(8 AS HUGEINT\)\)",
        "sum(value)",
    ),
    "division is of floats": (r"\) // \(", ") / ("),
    "nothing is nobody": (r"NOT typed\.unit IS NULL", "TRUE"),
    "the last bin is open": (r"< keys_1\.upper", "< least(keys_1.upper, 120)"),
    "a day too many is the next month": (
        r'TRY_CAST\("day" AS DATE\)',
        r"coalesce(\g<0>, DATE '2026-01-02')",
    ),
}


OPEN_OTHERWISE = {
    "texts have no case": (r"sha256\(typed\.open_key\)", "sha256(lower(typed.open_key))"),
    "lengths in bytes": (r"length\(typed\.open_key\)", "strlen(typed.open_key)"),
    "all letters are of the alphabet": (r"translate\(.*?, ''\) = ''", "TRUE"),
    "the domain has an end too far": (r"BETWEEN 0 AND 32", "BETWEEN 0 AND 33"),
}


ANSWERED: dict[tuple[str, str], Any] = {}
"""What the installed engine makes of texts that no variant changes: asked for once."""


def changed_and_found(
    monkeypatch: pytest.MonkeyPatch, way: tuple[str, str], *, opened: bool
) -> tuple[bool, list[str]]:
    """Return whether ``way`` changes a text, and what the probe finds then.

    Texts of open keys are changed if they are ``opened``, otherwise all the others.
    """
    changed = []

    def asked(run: Callable[..., Any]) -> Callable[..., Any]:
        def answered(statement: Statement, *rest: Any, **more: Any) -> Any:
            altering = opened == (statement.plan.open_keys is not None)
            text = re.sub(*way, statement.text) if altering else statement.text
            if text != statement.text:
                changed.append(text)
                try:
                    return run(replace(statement, text=text), *rest, **more)
                except InvalidInput:
                    if not opened:
                        pytest.fail(f"this is no SQL: {text}")
                    raise
            question = (statement.text, repr(statement.plan))
            if question not in ANSWERED:
                ANSWERED[question] = run(statement, *rest, **more)
            return ANSWERED[question]

        return answered

    monkeypatch.setattr(source, "run", asked(source.run))
    found = conformance.differences("csv")
    return bool(changed), found


@pytest.mark.slow
@pytest.mark.parametrize("way", OTHERWISE)
def test_an_engine_that_computes_otherwise_is_found_out(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    changed, found = changed_and_found(monkeypatch, OTHERWISE[way], opened=False)
    assert changed
    assert found


@pytest.mark.parametrize("way", OPEN_OTHERWISE)
def test_an_engine_that_reads_other_keys_is_found_out(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    changed, found = changed_and_found(monkeypatch, OPEN_OTHERWISE[way], opened=True)
    assert changed
    assert found


def test_an_engine_that_fails_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise InvalidInput("The dataset's file cannot be read.")

    monkeypatch.setattr(source, "run", fail)
    with pytest.raises(Unavailable, match=r"\(count_units, count, .*groups, rows, uint64, .*\)"):
        conformance.require_conformance("csv")


def test_a_refused_engine_reads_no_data_and_registers_none(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.csv([("ann", "a", 1, 1, "", "")])
    run, seen = source.run, []

    def wrong(statement: Statement, file: Any, *rest: Any, **more: Any) -> Any:
        seen.append(file.path.name)
        return run(statement, file, *rest, **more) + np.int64(1)

    monkeypatch.setattr(source, "run", wrong)
    with pytest.raises(Unavailable, match="no data are read with it"):
        check_source(dataset_of(), Sources(folder.path))
    with pytest.raises(Unavailable, match="no data are read with it"):
        folder.ask(dataset_of(), query_of())
    assert set(seen) == {"probe.csv"}


def test_an_engine_that_passed_is_not_asked_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.csv([("ann", "a", 1, 1, "", "")])
    assert folder.ask(dataset_of(), query_of()).tolist() == [1]
    run, seen = source.run, []

    def watched(statement: Statement, file: Any, *rest: Any, **more: Any) -> Any:
        seen.append(file.path.name)
        return run(statement, file, *rest, **more)

    monkeypatch.setattr(source, "run", watched)
    assert answer(
        dataset_of(),
        stated(dataset_of(), query_of()),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset_of(), KEY, Sources(folder.path)),
        sources=Sources(folder.path),
    ).steps.tolist() == [1]
    assert seen == ["visits.csv"]


def test_without_room_for_a_temporary_file_the_next_step_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(Unavailable, match="TMPDIR"):
        conformance.require_conformance("parquet")


def test_nothing_of_the_probe_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    conformance.require_conformance("parquet")
    assert list(tmp_path.iterdir()) == []
