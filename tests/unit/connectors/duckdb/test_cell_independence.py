"""Test that nothing but the answer depends on what a cell holds."""

import logging
from pathlib import Path

import pytest
from tests.unit.connectors.cases import KEY, Folder, csv_text, dataset_of, prepared, query_of

from penstock.connectors.planning.prepare import check_source
from penstock.connectors.sources import Sources
from penstock.connectors.specs.guess import guess_schema
from penstock.errors import PenstockError

STRANGE = [
    ("zoe", "a", 30, 1.0, "true", "2026-01-01"),
    (None, None, None, None, None, None),
    ("zoe", "nowhere", "NaN", "Infinity", "maybe", "2026-02-30"),
    ("zoe", "x" * 100_000, "9" * 400, "-1e400", "🤦🏼", "0000-00-00"),
    ('z"oe', "a,b", "a\nb", "\t", "'", "--"),
    ("zoe\x00", "\u202e", "1e5", "0x10", "TRUE ", "infinity"),
]

QUESTIONS = [
    query_of({"type": "count_units"}, group_by=[{"column": "ward"}]),
    query_of(where=[{"column": "age", "op": ">", "value": 20}], group_by=[{"column": "day"}]),
    query_of({"type": "sum", "column": "cost"}, group_by=[{"column": "urgent"}]),
    query_of({"type": "histogram", "column": "cost", "bins": [-10, 0, 10.5]}),
]

OTHERS = [(f"p{n}", "abc"[n % 3], n, n / 2, "false", "2026-01-02") for n in range(20)]


def _all_that_is_said(folder: Folder) -> list[object]:
    """Return everything besides the answers themselves: SQL, hashes, refusals, guesses, shapes."""
    said: list[object] = [guess_schema(folder.path / "visits.csv")]
    good, bad = dataset_of(), dataset_of(columns={"person": {"type": "string"}, "no": _NUMBER})
    for dataset in (good, bad):
        try:
            check_source(dataset, Sources(folder.path))
            said.append("accepted")
        except PenstockError as error:
            said.append((type(error), error.detail, str(error), error.data))
    for query in QUESTIONS:
        said.append(prepared(good, query))
        values = folder.ask(good, query)
        said.append((values.shape, values.dtype))
    return said


_NUMBER = {"type": "number"}


@pytest.mark.slow
@pytest.mark.parametrize("row", STRANGE)
def test_two_files_that_differ_in_one_persons_row_differ_in_the_answer_alone(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    row: tuple[object, ...],
) -> None:
    caplog.set_level(logging.DEBUG)
    said = []
    for name, rows in (("with", [*OTHERS[:10], row, *OTHERS[10:]]), ("without", OTHERS)):
        folder = Folder(tmp_path / name)
        folder.path.mkdir()
        text = csv_text(folder.names, rows)  # type: ignore[arg-type]  # strange on purpose
        (folder.path / "visits.csv").write_text(text, encoding="utf-8")
        said.append(_all_that_is_said(folder))
    assert said[0] == said[1]
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_one_strange_row_moves_no_other_persons_contribution(folder: Folder) -> None:
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    folder.csv(OTHERS)
    without = folder.ask(dataset_of(), query)
    for row in STRANGE:
        folder.csv([*OTHERS[:10], row, *OTHERS[10:]])
        assert 0 <= (folder.ask(dataset_of(), query) - without).sum() <= 1


def test_a_guess_takes_names_and_declared_types_only(folder: Folder) -> None:
    folder.csv([("ann", "a", 1, 2.5, "true", "2026-01-01")])
    assert set(guess_schema(folder.path / "visits.csv").values()) == {"string"}
    folder.parquet({"i": [1], "x": [0.5], "b": [True], "s": ["1"], "l": [[1]]})
    assert guess_schema(folder.path / "visits.parquet") == {
        "i": "integer",
        "x": "number",
        "b": "boolean",
        "s": "string",
        "l": "string",
    }


def test_preparing_touches_no_file(tmp_path: Path) -> None:
    dataset = dataset_of(str(tmp_path / "nowhere.csv"))
    assert prepared(dataset, QUESTIONS[0]).dimension == 3
    assert len(KEY) == 32
