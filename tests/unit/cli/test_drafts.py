"""Test that example files can be registered unchanged, and that drafts use only headers."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run

from penstock import examples

DECLARED = (
    *("--privacy-unit", "person", "--type", "year=integer", "--categories", "year=2024,2025"),
    *("--categories", "area=rural,urban", "--bounds", "visits=0:20"),
    *("--budget", "public=1", "--budget", "internal=4"),
)


def test_the_example_files_run_as_they_stand(here: Run, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(examples.CSV)
    (tmp_path / "dataset.json").write_text(here("dataset", "example").out)
    (tmp_path / "query.json").write_text(here("query", "example").out)
    made = here("dataset", "register", "dataset.json")
    assert made.code == 0, made.err
    made = here("query", "register", "query.json")
    assert made.code == 0, made.err
    release = here("release", "visits_by_area", "--as", "ines", "--format", "json").json
    assert release["keys"] == ["rural", "urban"]
    half = release["error"]["half_width"]
    for value, exact in zip(release["values"], (1, 7), strict=True):
        assert abs(value - exact) < 6 * half  # a chance below 1e-30


@pytest.mark.parametrize(
    ("command", "file"),
    [(("dataset", "register"), examples.DATASET), (("query", "register"), examples.QUERY)],
)
def test_help_shows_a_whole_file(run: Run, command: tuple[str, str], file: str) -> None:
    help_text = "\n".join(line.strip() for line in run(*command, "--help").out.splitlines())
    assert "\n".join(line.strip() for line in file.splitlines()) in help_text


def test_a_draft_is_completed_by_what_is_declared(here: Run, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(examples.CSV)
    draft = here("dataset", "example", "visits.csv", *DECLARED)
    assert draft.code == 0, draft.err
    declared, wanted = tomllib.loads(draft.out), json.loads(examples.DATASET)
    wanted["budgets"] = {"public": 1, "internal": 4}
    assert declared == wanted
    (tmp_path / "visits.toml").write_text(draft.out)
    assert here("dataset", "register", "visits.toml").code == 0


def test_a_draft_never_reads_a_cell(run: Run, tmp_path: Path) -> None:
    header = examples.CSV.splitlines()[0]
    drafts = set()
    for cells in (examples.CSV, f"{header}\n", f"{header}\n4711-canary,1,2,3\n", f"{header}\n\xff"):
        (tmp_path / "visits.csv").write_text(cells, "latin-1")
        for more in ((), DECLARED):
            draft = run("dataset", "example", "visits.csv", *more)
            assert draft.code == 0, draft.err
            drafts.add(draft.out)
    assert len(drafts) == 2


def test_an_open_draft_is_refused_with_what_is_missing(here: Run, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(examples.CSV)
    (tmp_path / "visits.toml").write_text(here("dataset", "example", "visits.csv").out)
    refused = here("dataset", "register", "visits.toml")
    assert refused.code == 1
    assert "/privacy_unit" in refused.err
    assert "/budgets" in refused.err


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--privacy-unit", "nobody"), 1, "it has person, year, area, visits"),
        (("--type", "year=int"), 2, "not one of string, integer"),
        (("--type", "year"), 2, "is not COLUMN=..."),
        (("--bounds", "visits=0"), 2, "LOWER:UPPER"),
        (("--bounds", "visits=0:inf"), 2, "LOWER:UPPER"),
        (("--bounds", "visits=5:1"), 2, "lower bound above"),
        (("--categories", "area=rural,,urban"), 2, "a category is empty"),
        (("--categories", 'area=rural,"urban'), 2, "a quote is not closed"),
        (("--type", "year=integer", "--categories", "year=2024,x"), 1, "/columns/year/categories"),
    ],
)
def test_what_cannot_be_declared_is_told(
    run: Run, tmp_path: Path, options: tuple[str, ...], code: int, says: str
) -> None:
    (tmp_path / "visits.csv").write_text(examples.CSV)
    refused = run("dataset", "example", "visits.csv", *options)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err


def test_a_category_may_have_a_comma(run: Run, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(examples.CSV)
    draft = run("dataset", "example", "visits.csv", "--categories", 'area=ICU, "Maternity, ward 2"')
    assert tomllib.loads(draft.out)["columns"]["area"]["categories"] == ["ICU", "Maternity, ward 2"]


@pytest.mark.parametrize(
    ("header", "says"),
    [
        (b"a,b,a", "several columns of the same name, 'a'"),
        (b"who;visits", "separated by commas"),
        ("who,größe".encode("cp1252"), "Write the file again in UTF-8"),
        ("who,visits".encode("utf-16"), "Write the file again in UTF-8"),
    ],
)
def test_a_header_that_cannot_be_meant_is_refused(
    run: Run, tmp_path: Path, header: bytes, says: str
) -> None:
    (tmp_path / "odd.csv").write_bytes(header + b"\n1,2,3\n")
    refused = run("dataset", "example", "odd.csv")
    assert (refused.code, refused.out) == (1, "")
    assert says in refused.err


def test_names_that_are_hard_to_write_are_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hard.csv").write_text('"a ""b"" \\ # [c]",d.e\n1,2\n')
    columns = tomllib.loads(run("dataset", "example", "hard.csv").out)["columns"]
    assert list(columns) == ['a "b" \\ # [c]', "d.e"]
