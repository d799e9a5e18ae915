"""Test specs from files and standard input.

What is read, and what is refused without repeating it.
"""

import io
import json
import sys
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run, start
from tests.unit.sites import SITES

SPEC = {**SITES, "name": "more"}
TOML = """\ufeff
name = "more"
neighboring = "add_remove"
delta = 1e-6
source.engine = "vector"
budgets.public.epsilon = 1.0
budgets.internal.epsilon = 4.0
"""
SECRET = "4711-canary"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spec.json", json.dumps(SPEC)),
        ("spec.JSON", "\ufeff" + json.dumps(SPEC)),
        ("spec.toml", TOML),
        ("spec", json.dumps(SPEC)),
        ("spec", TOML),
        ("spec.txt", "\n\n  " + json.dumps(SPEC, indent=3)),
    ],
)
def test_json_and_toml_are_read(here: Run, tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    made = here("dataset", "register", name, "--format", "json")
    assert made.code == 0, made.err
    assert made.json["name"] == "more"


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [json.dumps(SPEC), pytest.param(TOML, marks=pytest.mark.nightly)]
)
def test_a_dash_is_standard_input(furnished: Path, tmp_path: Path, content: str) -> None:
    made = start("dataset", "register", "-", folder=tmp_path, home=furnished, input=content)
    assert made.code == 0, made.err
    assert made.out.startswith("more, version 1")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b" ", "empty"),
        (b"{", "line 1"),
        (b'{"name": "4711-canary", }', "line 1"),
        (b'{"delta": NaN, "name": "4711-canary"}', "NaN"),
        (b'{"delta": -Infinity}', "Infinity"),
        (b"[1, 2]", "one JSON object"),
        (b'"4711-canary"', "one JSON object"),
        (b"null", "one JSON object"),
        (b"\xff\xfe4711-canary", "UTF-8"),
        (b'{"name": "4711-canary"}', "/source"),
        (b"[" * 100_000, "deep"),
        (b'{"a":' * 100_000, "deep"),
        (b"name = 4711-canary", "TOML"),
        (b'{"delta": 1' + b"0" * 5000 + b"}", ""),
        (b'{"delta": 1e999}', "/delta"),
    ],
    ids=range(15),
)
def test_what_is_no_spec_is_refused_without_repeating_it(
    here: Run, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "spec").write_bytes(content)
    refused = here("dataset", "register", "spec")
    assert refused.code == 1, refused.err
    assert refused.out == ""
    assert says in refused.err
    assert SECRET not in refused.err
    assert "Traceback" not in refused.err
    assert "defect" not in refused.err
    assert len(refused.err) < 3000


def test_a_table_of_toml_that_is_broken_is_refused(here: Run, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text("a = {")
    refused = here("query", "register", "spec.toml")
    assert refused.code == 1
    assert "TOML" in refused.err


@pytest.mark.parametrize("file", ["missing.json", ".", "locked/spec.json/x"])
def test_a_file_that_cannot_be_read_is_wrong_usage(here: Run, file: str) -> None:
    refused = here("query", "register", file)
    assert refused.code == 2
    assert repr(file) in refused.err


def test_a_file_above_the_limit_is_not_read(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_QUERY_BODY_LIMIT", "2048")
    (tmp_path / "spec.json").write_text('{"name": "' + "x" * 4000 + '"}')
    refused = here("query", "register", "spec.json")
    assert refused.code == 1
    assert "2048" in refused.err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{" + b" " * 4000)))
    assert "2048" in here("query", "register", "-").err


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"surprise": 1}, "/surprise"),
        ({"delta": "1e-6"}, "/delta"),
        ({"delta": -1}, "/delta"),
        ({"budgets": {}}, "/budgets"),
        ({"budgets": {"public": {"epsilon": 0}}}, "/budgets/public/epsilon"),
        ({"budgets": {"nowhere": {"epsilon": 1}}}, "nowhere"),
        ({"budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 1}}}, "internal"),
        ({"name": ""}, "/name"),
        ({"source": {"engine": "oracle"}}, "/source/engine"),
        (
            {
                "source": {"engine": "duckdb", "uri": "vanished.csv"},
                "columns": {"who": {"type": "string"}},
                "privacy_unit": {"column": "who"},
            },
            "no such file",
        ),
    ],
)
def test_a_dataset_that_cannot_be_meant_is_refused_at_its_place(
    here: Run, tmp_path: Path, change: dict[str, object], pointer: str
) -> None:
    (tmp_path / "spec.json").write_text(json.dumps({**SPEC, **change}))
    refused = here("dataset", "register", "spec.json")
    assert refused.code == 1
    assert pointer in refused.err
    listed = here("dataset", "list", "--format", "json").json
    assert [dataset["name"] for dataset in listed] == ["sites"]


def test_every_fault_of_a_query_file_is_told_at_once(here: Run, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,town\na,north\n")
    dataset = {
        "name": "clinic",
        "source": {"engine": "duckdb", "uri": "people.csv"},
        "privacy_unit": {"column": "person"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "columns": {
            "person": {"type": "string"},
            "town": {"type": "string", "categories": ["north"]},
        },
        "budgets": {"public": 1},
    }
    (tmp_path / "clinic.json").write_text(json.dumps(dataset))
    made = here("dataset", "register", "clinic.json")
    assert made.code == 0, made.err
    query = {
        "name": "towns",
        "dataset": "clinic",
        "group_by": "twon",
        "aggregate": {"type": "count"},
        "mechanism": "laplace",
        "levels": {"pubic": 0.1, "intern": 0.2},
    }
    (tmp_path / "towns.json").write_text(json.dumps(query))
    places = (
        *("/levels/pubic", "/levels/intern", "/group_by/0/column"),
        "/contribution/max_rows_per_group",
    )
    for command in ("register", "preview"):
        refused = here("query", command, "towns.json")
        assert refused.code == 1
        assert [line.split(":")[0].strip() for line in refused.err.splitlines()[1:]] == list(places)
    query |= {"group_by": "town", "levels": {"pubic": 0.1}}
    query["contribution"] = {"max_groups": 1, "max_rows_per_group": 1}
    (tmp_path / "towns.json").write_text(json.dumps(query))
    refused = here("query", "register", "towns.json")
    assert refused.err.splitlines()[1] == "  The place is /levels/pubic."
    (tmp_path / "towns.json").write_text(json.dumps(query | {"levels": {"public": 0.1}}))
    assert here("query", "register", "towns.json").code == 0
