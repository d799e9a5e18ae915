"""Test how cells are read: as text, then as their declared type; nothing raises."""

import math

import pyarrow as pa
import pytest
from tests.unit.connectors.cases import Folder, dataset_of, prepared, query_of

COUNT = query_of(contribution={"max_rows_per_group": 100})


def _total(column: str) -> dict[str, object]:
    return {"type": "sum", "column": column}


def test_rows_without_a_person_are_dropped(folder: Folder) -> None:
    folder.csv([(None, "a", 1, 1, "", ""), ("", "a", 1, 1, "", ""), ("ann", "a", 1, 1, "", "")])
    assert folder.ask(dataset_of(), COUNT).tolist() == [1]


@pytest.mark.parametrize("bad", [None, "nan", "inf", "-inf", "1,5", "abc", "1e999", "½"])
def test_a_value_that_is_no_finite_number_drops_its_row(folder: Folder, bad: str | None) -> None:
    folder.csv([("ann", "a", 1, bad, "", ""), ("ben", "a", 1, 2, "", "")])
    assert folder.ask(dataset_of(), query_of(_total("cost"))).tolist() == [4]


@pytest.mark.parametrize("bad", [None, "1.5", "nan", "inf", "abc", "9223372036854775808"])
def test_a_value_that_is_no_integer_drops_its_row(folder: Folder, bad: str | None) -> None:
    folder.csv([("ann", "a", bad, 1, "", ""), ("ben", "a", 7.0, 2, "", "")])
    assert folder.ask(dataset_of(), query_of(_total("age"))).tolist() == [7]


def test_the_declared_missing_stands_in_for_what_cannot_be_read(folder: Folder) -> None:
    folder.csv([(f"p{n}", "a", 1, bad, "", "") for n, bad in enumerate([None, "nan", "x", 4])])
    columns = {
        "person": {"type": "string"},
        "cost": {"type": "number", "lower": 0, "upper": 10, "step": 1, "missing": 3},
    }
    assert folder.ask(dataset_of(columns=columns), query_of(_total("cost"))).tolist() == [13]


def test_missing_can_put_a_row_into_a_group_or_past_a_condition(folder: Folder) -> None:
    folder.csv([("ann", None, "x", 1, "", ""), ("ben", "b", 1, 1, "", "")])
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b"], "missing": "a"},
        "age": {"type": "integer", "missing": 9},
    }
    query = query_of(
        group_by=[{"column": "ward"}], where=[{"column": "age", "op": "=", "value": 9}]
    )
    assert folder.ask(dataset_of(columns=columns), query).tolist() == [1, 0]


def test_halves_are_rounded_up_also_below_zero(folder: Folder) -> None:
    folder.csv([(f"p{n}", "a", 1, n / 4, "", "") for n in (-3, -1, 1, 3)])
    # -0.75, -0.25, 0.25, 0.75 in half units: -1.5, -0.5, 0.5, 1.5.
    assert folder.ask(dataset_of(), query_of(_total("cost"))).tolist() == [-1 + 0 + 1 + 2]


def test_a_step_above_one_rounds_to_its_multiples(folder: Folder) -> None:
    folder.csv([(f"p{n}", "a", age, "", "", "") for n, age in enumerate([4, 5, 14, 15, 120, 999])])
    query = query_of({"type": "sum", "column": "age", "step": 10})
    assert folder.ask(dataset_of(), query).tolist() == [0 + 1 + 1 + 2 + 12 + 12]
    assert prepared(dataset_of(), query).step == 10


def test_huge_values_are_clamped_and_never_overflow(folder: Folder) -> None:
    folder.csv([("ann", "a", 2**63 - 1, 1e308, "", ""), ("ben", "a", -(2**63), -1e308, "", "")])
    assert folder.ask(dataset_of(), query_of(_total("age"))).tolist() == [120]
    assert folder.ask(dataset_of(), query_of(_total("cost"))).tolist() == [100 - 20]


def test_unicode_is_compared_as_it_is_written(folder: Folder) -> None:
    composed, decomposed = "Zoë", "Zoe\u0308"
    folder.csv([("1", composed, "", "", "", ""), ("2", decomposed, "", "", "", "")])
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": [composed, "東京", "🤦🏼"]},
    }
    query = query_of(group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(columns=columns), query).tolist() == [1, 0, 0]


def test_people_are_told_apart_by_their_typed_value(folder: Folder) -> None:
    folder.csv([(person, "a", "", "", "", "") for person in ("1", "1.0", "01", "x", "2")])
    count = query_of({"type": "count_units"})
    as_text = {"person": {"type": "string"}}
    as_integer = {"person": {"type": "integer"}}
    assert folder.ask(dataset_of(columns=as_text), count).tolist() == [5]
    assert folder.ask(dataset_of(columns=as_integer), count).tolist() == [2]


def test_parquet_gives_the_same_as_csv_whatever_its_types(folder: Folder) -> None:
    rows = [("ann", "a", 30, 1.5), ("ben", "b", None, math.nan), ("cat", None, 7, -3.25)]
    folder.csv([(*row, "", "") for row in rows])
    people, wards, ages, costs = zip(*rows, strict=True)
    tables: list[dict[str, object]] = [
        {"person": people, "ward": wards, "age": ages, "cost": costs},
        {
            "cost": pa.array(costs, pa.float32()),
            "ward": pa.array(wards).dictionary_encode(),
            "other": [[1], [2, 3], None],
            "age": pa.array(ages, pa.float64()),
            "person": people,
        },
    ]
    columns = {name: dataset_of().columns[name].model_dump() for name in ("person", "ward")}
    columns |= {"age": {"type": "integer", "lower": 0, "upper": 100}}
    columns |= {"cost": {"type": "number", "lower": -10, "upper": 10, "step": 0.25}}
    questions = [
        query_of(group_by=[{"column": "ward"}]),
        query_of(_total("age")),
        query_of(_total("cost")),
    ]
    wanted = [folder.ask(dataset_of(columns=columns), ask).tolist() for ask in questions]
    assert wanted == [[1, 1, 0], [37], [6 - 13]]
    for table in tables:
        folder.parquet(table)
        dataset = dataset_of("visits.parquet", columns=columns)
        assert [folder.ask(dataset, ask).tolist() for ask in questions] == wanted


def test_timestamps_with_a_zone_are_read_as_dates_in_utc(folder: Folder) -> None:
    instants = pa.array([1767312000 - 1, 1767312000], pa.timestamp("s", tz="America/New_York"))
    folder.parquet({"person": ["ann", "ben"], "day": instants})
    columns = {
        "person": {"type": "string"},
        "day": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
    }
    dataset = dataset_of("visits.parquet", columns=columns)
    assert folder.ask(dataset, query_of(group_by=[{"column": "day"}])).tolist() == [1, 1]


@pytest.mark.parametrize(
    "line",
    [
        b"ben",
        b"ben,a,1,1,true,2026-01-01,more,and more",
        b"",
        b"   ",
        b'be"n,a"b,"1"x,""1,,',
        b"\xff\xfe,\xff,1,1,,",
        b"b\x00n,a,\x00,1,,",
    ],
)
def test_a_line_that_is_no_good_csv_leaves_the_others_alone(folder: Folder, line: bytes) -> None:
    folder.csv([("ann", "a", 1, 1, "", ""), ("cat", "c", 1, 1, "", "")])
    good = (folder.path / "visits.csv").read_bytes().splitlines()
    (folder.path / "visits.csv").write_bytes(b"\n".join([good[0], good[1], line, good[2], b""]))
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    counts = folder.ask(dataset_of(), query).tolist()
    assert counts[0] in {1, 2}
    assert counts[1:] == [0, 1]


def test_a_line_that_ends_early_has_no_value_in_its_last_columns(folder: Folder) -> None:
    folder.csv([("ann", "a", 1, 1, "", "")])
    with (folder.path / "visits.csv").open("ab") as stream:
        stream.write(b"ben\n")
    assert folder.ask(dataset_of(), query_of({"type": "count_units"})).tolist() == [2]
    by_ward = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), by_ward).tolist() == [1, 0, 0]


def test_csv_is_read_with_its_quotes_line_ends_and_byte_order_mark(folder: Folder) -> None:
    text = '\ufeffperson,"wa""rd",no\r\n"an,n","a\nb",1\r\nben,a,2\r\n'
    (folder.path / "visits.csv").write_bytes(text.encode())
    columns = {
        "person": {"type": "string"},
        'wa"rd': {"type": "string", "categories": ["a"], "missing": "a"},
        "no": {"type": "integer", "lower": 0, "upper": 9},
    }
    dataset = dataset_of(columns=columns)
    assert folder.ask(dataset, query_of(_total("no"))).tolist() == [3]
    assert folder.ask(dataset, query_of(group_by=[{"column": 'wa"rd'}])).tolist() == [1]
