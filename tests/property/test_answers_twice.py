"""Test the SQL against the same rules written in plain Python, on random tables."""

import hashlib
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import SALT, Folder, dataset_of, query_of

NAMES = ["person", "ward", "age", "cost"]
WARDS = ["a", "é", "', --"]
EDGES = [0, 18, 65.5, 120]

texts = st.sampled_from(["", *WARDS, "z", "A"])
people = st.sampled_from(["", "ann", "Ann", "ann ", "ben", "cat", "9", '"'])
ages = st.sampled_from(["", "0", "17", "18", "65", "66", "120", "121", "-1", "5.5", "7.0", "x"])
costs = st.sampled_from(["", "nan", "inf", "-inf", "0.25", "-0.25", "0.75", "3", "-77", "1e300"])
tables = st.lists(st.tuples(people, texts, ages, costs), max_size=40)

COLUMNS: dict[str, object] = {
    "person": {"type": "string"},
    "ward": {"type": "string", "categories": WARDS},
    "age": {"type": "integer"},
    "cost": {"type": "number", "lower": -10, "upper": 2.75, "step": 0.5},
}

Row = tuple[str, str, str, str]


def _age(text: str) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None


def _steps(text: str) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return math.floor(min(max(value, -10.0), 2.75) / 0.5 + 0.5)


def _bin(age: int) -> int | None:
    for place in range(len(EDGES) - 1):
        last = place == len(EDGES) - 2
        if EDGES[place] <= age and (age < EDGES[place + 1] or (last and age == EDGES[-1])):
            return place
    return None


def _order(person: str, key: int) -> tuple[str, int]:
    parts = "".join(f"{len(part)}:{part}" for part in (person, str(key), SALT.hex()))
    return hashlib.md5(parts.encode(), usedforsecurity=False).hexdigest(), key


def _in_plain_python(rows: list[Row], measure: str, max_groups: int, max_rows: int) -> list[int]:
    """Return the rules of the connector, one after the other."""
    given: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for person, ward, age_text, cost in rows:
        age, steps = _age(age_text), _steps(cost)
        place = None if age is None else _bin(age)
        if not person or ward not in WARDS or place is None:
            continue
        if measure == "sum" and steps is None:
            continue
        given[person][WARDS.index(ward) * 3 + place].append(steps or 0)
    totals = [0] * 9
    for person, groups in given.items():
        order = sorted((_order(person, key), key) for key in groups)
        for _, key in order[:max_groups]:
            values = groups[key]
            totals[key] += {
                "count": min(len(values), max_rows),
                "count_units": 1,
                "sum": min(max(sum(values), max_rows * -20), max_rows * 6),
            }[measure]
    return totals


@pytest.mark.parametrize("measure", ["count", "count_units", "sum"])
@settings(max_examples=by_count(20, 40), deadline=None)
@given(rows=tables, max_groups=st.integers(1, 9), max_rows=st.integers(1, 3))
def test_sql_and_plain_python_agree(
    tmp_path_factory: pytest.TempPathFactory,
    measure: str,
    rows: list[Row],
    max_groups: int,
    max_rows: int,
) -> None:
    folder = Folder(tmp_path_factory.mktemp("files"), NAMES)
    folder.csv(rows)
    aggregate: dict[str, Any] = {"type": measure}
    if measure == "sum":
        aggregate["column"] = "cost"
    query = query_of(
        aggregate,
        group_by=[{"column": "ward"}, {"column": "age", "bins": EDGES}],
        contribution={"max_groups": max_groups, "max_rows_per_group": max_rows},
    )
    wanted = _in_plain_python(rows, measure, max_groups, max_rows)
    assert folder.ask(dataset_of(columns=COLUMNS), query).tolist() == wanted


def test_plain_python_chooses_among_groups(tmp_path: Path) -> None:
    rows: list[Row] = [(f"p{n}", ward, "5", "1") for n in range(30) for ward in WARDS]
    folder = Folder(tmp_path, NAMES)
    folder.csv(rows)
    query = query_of(
        group_by=[{"column": "ward"}, {"column": "age", "bins": EDGES}],
        contribution={"max_groups": 1, "max_rows_per_group": 1},
    )
    wanted = _in_plain_python(rows, "count", 1, 1)
    assert sorted(wanted)[-3:] != [0, 0, 30]
    assert folder.ask(dataset_of(columns=COLUMNS), query).tolist() == wanted
