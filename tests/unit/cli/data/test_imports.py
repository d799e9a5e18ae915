"""Test ``penstock dataset import`` and ``dummy``: other systems' metadata, and made-up rows."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run

METADATA = """
"":
  Clinic:
    Visits:
      max_ids: 4
      patient: {type: string, private_id: True}
      cost: {type: float, lower: 0, upper: 10}
"""
OPTIONS = ("--source", "visits.csv", "--budget", "public=1", "--budget", "internal=4.5")


@pytest.fixture
def metadata(bare: Path, tmp_path: Path) -> str:
    (tmp_path / "visits.csv").write_text("patient,cost\nann,1\n")
    (tmp_path / "visits.yaml").write_text(METADATA)
    return "visits.yaml"


def test_metadata_become_a_dataset_with_the_budgets_that_were_given(
    here: Run, metadata: str
) -> None:
    done = here("dataset", "import", metadata, *OPTIONS, "--step", "cost=0.25", "--format", "json")
    assert done.code == 0, done.err
    assert done.json["name"] == "Visits"
    assert done.json["privacy_unit"] == {"column": "patient"}
    assert done.json["columns"]["cost"] == {"type": "number", "lower": 0, "upper": 10, "step": 0.25}
    assert done.json["budgets"]["internal"] == {"epsilon": 4.5, "delta": 1e-6}
    assert "max_ids is 4" in done.err
    assert "no step" not in done.err
    assert here("dataset", "show", "visits").code == 0


def test_the_spec_can_be_looked_at_first(here: Run, metadata: str, tmp_path: Path) -> None:
    done = here("dataset", "import", metadata, *OPTIONS, "--print", "--name", "stays")
    assert done.code == 0
    assert "'cost' has no step" in done.err
    assert here("dataset", "show", "stays").code == 1
    (tmp_path / "stays.json").write_text(json.dumps(done.json))
    assert here("dataset", "register", "stays.json").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--budget", "public"), 2, "NAME=NUMBER"),
        (("--budget", "public=-1"), 2, "not a number above 0"),
        (("--budget", "moon=1"), 1, "no tier 'moon'"),
        (("--step", "size=1"), 1, "'size'"),
        (("--step", "cost=0.3"), 1, "power of two"),
        (("--table", "Other"), 1, "no table"),
    ],
)
def test_what_is_wrong_with_an_import_is_said(
    here: Run, metadata: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = here("dataset", "import", metadata, *OPTIONS, *arguments)
    assert done.code == code
    assert says in done.err
    assert here("dataset", "show", "Visits").code == 1


_CHAIN = b"".join(b"- &a%d {<<: *a%d}\n" % (n + 1, n) for n in range(2000))
ALIASES = b"table:\n- &a0 {}\n" + _CHAIN + b"<<: *a2000\n"
"""Each alias contains the one before it, so that none looks nested."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: [1", "is not YAML: line"),
        (b"\xff\xfe\x00", "not YAML"),
        (b"!!python/object/apply:os.system ['echo no']", "not YAML"),
        (b"[" * 100_000, "nested too deep, more than 100 levels"),
        (b"[" * 101 + b"]" * 101, "nested too deep, more than 100 levels"),
        (b"[" * 100 + b"]" * 100, "must be a mapping"),
        (ALIASES, "nested too deep, more than 100 levels"),
        (b"&a {table: *a}", "has no type"),
        (b"&a {<<: *a, table: {rows: *a}}", "has no type"),
        (b"", "must be a mapping"),
        (b"# " + b"x" * 2**20, "longer than"),
    ],
)
def test_files_that_are_no_metadata_are_refused_in_plain_words(
    here: Run, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "it.yaml").write_bytes(content)
    done = here("dataset", "import", "it.yaml", *OPTIONS)
    assert done.code == 1
    assert says in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_rows_are_made_up_from_the_command_line(here: Run, metadata: str) -> None:
    assert here("dataset", "import", metadata, *OPTIONS).code == 0
    first = here("dataset", "dummy", "Visits", "--rows", "5", "--seed", "3", "--format", "csv")
    assert first.code == 0
    lines = first.out.splitlines()
    assert lines[0] == "patient,cost"
    assert len(lines) == 6
    again = here("dataset", "dummy", "Visits", "--rows", "5", "--seed", "3", "--format", "csv")
    assert again.out == first.out
    assert here("dataset", "dummy", "sites").code == 1
