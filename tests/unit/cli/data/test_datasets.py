"""``dataset``, ``query``, ``release`` and ``audit``."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.sites import SITES, VISITS

PEOPLE = "\n".join(
    ["person,town,visits", *(f"{n},{'north' if n % 3 else 'south'},{n % 5}" for n in range(300))]
)
CLINIC = """
name = "clinic"
neighboring = "add_remove"
delta = 1e-6
privacy_unit = { column = "person" }

[source]
engine = "duckdb"
uri = "people.csv"

[columns]
person = { type = "integer" }
town = { type = "string", categories = ["north", "south", "west"] }

[budgets]
public = { epsilon = 1 }
internal = { epsilon = 3 }
"""
TOWNS = {
    "name": "towns",
    "dataset": "clinic",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "laplace",
    "share": 0.5,
}


def write(folder: Path, name: str, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return name


def test_a_file_becomes_a_dataset_a_query_and_releases(here: Run, tmp_path: Path) -> None:
    write(tmp_path, "people.csv", PEOPLE)
    made = here("dataset", "register", write(tmp_path, "clinic.toml", CLINIC), "--format", "json")
    assert made.code == 0, made.err
    assert made.json["source"]["uri"] == str(tmp_path / "people.csv")
    assert {name: one["epsilon"] for name, one in made.json["budgets"].items()} == {
        "public": 1,
        "partner": 1,
        "internal": 3,
    }
    query = here("query", "register", write(tmp_path, "towns.json", TOWNS), "--format", "json")
    assert query.code == 0, query.err
    assert [tier["tier"] for tier in query.json["tiers"]] == ["public", "partner", "internal"]
    release = here("release", "towns", "--as", "ines", "--format", "json").json
    assert release["keys"] == ["north", "south", "west"]
    half = release["error"]["half_width"]
    for value, exact in zip(release["values"], (200, 100, 0), strict=True):
        assert abs(value - exact) < 12 * half  # a chance below 1e-12
    assert here("dataset", "show", "clinic", "--format", "json").json == made.json
    assert here("query", "show", "towns", "--format", "json").json == query.json


def test_a_release_is_the_same_in_every_format_and_at_every_time(here: Run) -> None:
    answer = here("release", "visits", "--as", "paul", "--format", "json").json
    again = here("release", "visits", "--as", "paul", "--format", "json").json
    assert again == answer
    rows = list(
        csv.DictReader(
            io.StringIO(here("release", "visits", "--as", "paul", "--format", "csv").out)
        )
    )
    assert [row["key"] for row in rows] == answer["keys"] == ["a", "b", "c"]
    assert [float(row["value"]) for row in rows] == answer["values"]
    half = answer["error"]["half_width"]
    assert [float(row["lower"]) for row in rows] == [value - half for value in answer["values"]]
    assert [float(row["upper"]) for row in rows] == [value + half for value in answer["values"]]
    table = here("release", "visits", "--as", "paul").out
    assert "at tier partner" in table
    assert answer["id"] in table
    shown = table.splitlines()[-3:]
    for line, value in zip(shown, answer["values"], strict=True):
        assert float(line.split()[1].replace(",", "")) == pytest.approx(value, abs=0.5)


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        (["--tier", "public"], 0.0999, 0.1),
        (["--epsilon", "0.2"], 0.199, 0.2),
        (["--level", "5000"], 0, 0.1),
        (["--rho", "0.0001"], 0, 0.1),
    ],
)
def test_a_more_private_level_can_be_named_in_every_way(
    here: Run, options: list[str], low: float, high: float
) -> None:
    release = here("release", "visits", "--as", "ines", *options, "--format", "json").json
    assert low <= release["guarantee"]["epsilon"] <= high


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["visits", "--as", "pia", "--tier", "partner"], 3, "partner"),
        (["visits", "--as", "pia", "--epsilon", "0.5"], 3, "public"),
        (["visits", "--as", "ada"], 3, "analyst"),
        (["visits", "--as", "otto"], 3, "analyst"),
        (["visits", "--as", "nobody"], 1, "nobody"),
        (["nothing", "--as", "pia"], 1, "nothing"),
        (["visits", "--as", "pia", "--tier", "nothing"], 1, "nothing"),
        (["visits"], 2, "--as"),
        (["visits", "--as", "pia", "--epsilon", "-1"], 2, "above 0"),
        (["visits", "--as", "pia", "--epsilon", "nan"], 2, "above 0"),
        (["visits", "--as", "pia", "--level", "inf"], 2, "above 0"),
        (["visits", "--as", "pia", "--rho", "many"], 2, "above 0"),
        (["visits", "--as", "ines", "--tier", "public", "--rho", "1"], 2, "at most one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_release_that_is_refused_leaves_no_trace(
    here: Run, arguments: list[str], code: int, says: str
) -> None:
    before = here("audit", "events", "--format", "json").json
    refused = here("release", *arguments)
    assert refused.code == code
    assert refused.out == ""
    assert says in refused.err
    assert here("audit", "events", "--format", "json").json == before


@pytest.mark.parametrize(
    ("epsilon", "step"),
    [(5, "largest share"), (50, "more noise")],
    ids=["losses are short", "failure probabilities too"],
)
def test_a_budget_refuses_with_the_numbers_and_exit_code_3(
    here: Run, tmp_path: Path, epsilon: int, step: str
) -> None:
    big = {**VISITS, "name": "big", "levels": {"public": {"epsilon": epsilon}}}
    before = here("dataset", "budget", "sites", "--format", "json").json
    refused = here("query", "register", write(tmp_path, "big.json", big))
    assert refused.code == 3
    assert "public" in refused.err
    assert "visits" in refused.err
    assert step in refused.err
    assert here("dataset", "budget", "sites", "--format", "json").json == before
    assert [q["name"] for q in here("query", "list", "--format", "json").json] == ["visits"]


def test_names_are_taken_once(here: Run, tmp_path: Path) -> None:
    for command, spec in (("dataset", {**SITES, "name": "SITES"}), ("query", VISITS)):
        refused = here(command, "register", write(tmp_path, "again.json", spec))
        assert refused.code == 1
        assert "already" in refused.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("dataset show nothing", "nothing"),
        ("dataset budget nothing", "nothing"),
        ("query show nothing", "nothing"),
        ("query list --dataset nothing", "nothing"),
        ("audit exposure --users nobody", "nobody"),
        ("audit exposure --users pia --dataset nothing", "nothing"),
        ("audit exposure --users ,", "users"),
    ],
)
def test_unknown_names_exit_1(here: Run, command: str, says: str) -> None:
    refused = here(*command.split())
    assert (refused.code, refused.out) == (1, "")
    assert says in refused.err


def test_lists_are_tables_and_say_where_they_are_empty(run: Run) -> None:
    run("init")
    for command in ("tier", "user", "dataset", "query"):
        empty = run(command, "list")
        assert (empty.code, empty.out) == (0, "")
        assert "no " in empty.err


def test_the_budget_says_what_was_spent_on_what(here: Run) -> None:
    told = here("dataset", "budget", "sites", "--format", "json").json
    rows = list(
        csv.DictReader(io.StringIO(here("dataset", "budget", "sites", "--format", "csv").out))
    )
    assert [row["tier"] for row in rows] == ["public", "partner", "internal"]
    for row, tier in zip(rows, told["tiers"], strict=True):
        assert float(row["spent_epsilon"]) == tier["spent"]["epsilon"]
        assert float(row["remaining_share"]) == tier["remaining_share"]
        assert row["spent_by"].startswith("visits ")
    assert float(rows[0]["spent_epsilon"]) == pytest.approx(0.1, rel=2e-3)


def test_the_log_says_who_was_given_what_and_that_the_operator_did_it(here: Run) -> None:
    release = here("release", "visits", "--as", "pia", "--format", "json").json
    events = here("audit", "events", "--kind", "release", "--format", "json").json
    assert len(events) == 1
    assert events[0]["release"] == release["id"]
    assert (events[0]["actor"], events[0]["user"]) == ("operator", "pia")
    assert events[0]["index"] == release["receipt"]["index"]
    assert events[0]["leaf_hash"] == release["receipt"]["leaf_hash"]
    assert not any(str(value) in json.dumps(events) for value in release["values"])


def test_events_are_filtered_and_cut(here: Run) -> None:
    here("release", "visits", "--as", "pia")
    everything = here("audit", "events", "--format", "json").json
    assert [one["index"] for one in everything] == list(range(len(everything)))
    assert here("audit", "events", "--limit", "3", "--format", "json").json == everything[:3]
    of_pia = here("audit", "events", "--user", "pia", "--format", "json").json
    assert [one["kind"] for one in of_pia] == ["user", "release"]
    of_query = here("audit", "events", "--query", "visits", "--format", "json").json
    assert {one["query"] for one in of_query} == {"visits"}
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    assert here("audit", "events", "--since", tomorrow, "--format", "json").json == []
    assert here("audit", "events", "--until", tomorrow, "--format", "json").json == everything
    assert here("audit", "events", "--since", "yesterday").code == 2


def test_long_lists_are_read_to_their_end(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = here("audit", "events", "--format", "json").json
    monkeypatch.setattr("penstock.services.pagination.LARGEST_LIMIT", 2)
    assert here("audit", "events", "--format", "json").json == everything
    assert len(everything) > 4


def test_exposure_is_that_of_the_best_informed(here: Run) -> None:
    for name in ("pia", "paul", "ines"):
        here("release", "visits", "--as", name)
    alone = here("audit", "exposure", "--users", "ines", "--format", "json").json
    together = here("audit", "exposure", "--users", "pia, paul,ines", "--format", "json").json
    assert together["users"] == ["pia", "paul", "ines"]
    assert together["released"] == alone["released"]
    assert together["independent"]["epsilon"] > 1.1 * together["released"]["epsilon"]
    table = here("audit", "exposure", "--users", "pia,paul,ines").out
    for figure in ("could be", "released", "independent", "reach"):
        assert figure in table
