"""Test answers on small files, worked out by hand."""

import pytest
from tests.unit.connectors.cases import Folder, dataset_of, query_of

ROWS = [
    ("ann", "a", 30, 1.0, "true", "2026-01-01"),
    ("ann", "a", 31, 2.25, "false", "2026-01-01"),
    ("ann", "a", 32, 3.0, "true", "2026-01-02"),
    ("ben", "b", 40, -4.0, "true", "2026-01-02"),
    ("cat", "a", 50, 100.0, "false", "2026-01-01"),
    ("cat", "c", 50, -100.0, "false", "2026-01-03"),
]


def test_count_lets_in_so_many_rows_of_each_person(folder: Folder) -> None:
    folder.csv(ROWS)
    query = query_of(group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), query).tolist() == [3, 1, 1]


def test_count_units_counts_a_person_once_in_each_group(folder: Folder) -> None:
    folder.csv(ROWS)
    query = query_of({"type": "count_units"}, group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), query).tolist() == [2, 1, 1]


def test_sum_rounds_to_steps_then_adds_then_clamps(folder: Folder) -> None:
    # In half units: ann 2 + 5 + 6 = 13 (2.25 rounds up to 2.5), cat 100 and -20, ben -8.
    folder.csv(ROWS)
    query = query_of({"type": "sum", "column": "cost"}, group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), query).tolist() == [113, -8, -20]


def test_sum_clamps_what_one_person_gives_to_one_group(folder: Folder) -> None:
    folder.csv([("ann", "a", 30, 50, "", "")] * 5 + [("ben", "a", 30, -10, "", "")] * 5)
    query = query_of({"type": "sum", "column": "cost"})
    assert folder.ask(dataset_of(), query).tolist() == [2 * 100 - 2 * 20]


def test_histogram_counts_rows_in_bins_and_drops_what_lies_outside(folder: Folder) -> None:
    folder.csv(ROWS)
    query = query_of({"type": "histogram", "column": "age", "bins": [31, 40, 50]})
    assert folder.ask(dataset_of(), query).tolist() == [2, 3]


def test_the_last_bin_is_closed_and_others_are_open_above(folder: Folder) -> None:
    folder.csv([(str(age), "a", age, "", "", "") for age in (0, 10, 20, 21)])
    query = query_of({"type": "histogram", "column": "age", "bins": [0, 10, 20]})
    assert folder.ask(dataset_of(), query).tolist() == [1, 2]


def test_groups_of_several_columns_vary_the_last_one_fastest(folder: Folder) -> None:
    folder.csv(ROWS)
    query = query_of(group_by=[{"column": "urgent"}, {"column": "ward"}])
    dataset = dataset_of()
    assert folder.ask(dataset, query).tolist() == [2, 0, 1, 2, 1, 0]


def test_dates_are_grouped_by_their_categories(folder: Folder) -> None:
    folder.csv(ROWS)
    query = query_of(group_by=[{"column": "day"}])
    assert folder.ask(dataset_of(), query).tolist() == [3, 2]


def test_keys_without_rows_appear_as_zeros(folder: Folder) -> None:
    folder.csv([])
    query = query_of(group_by=[{"column": "ward"}])
    assert folder.ask(dataset_of(), query).tolist() == [0, 0, 0]


def test_of_a_persons_groups_no_more_than_declared_are_kept(folder: Folder) -> None:
    folder.csv([(f"p{person}", ward, "", "", "", "") for person in range(60) for ward in "abc"])
    query = query_of(
        group_by=[{"column": "ward"}], contribution={"max_groups": 1, "max_rows_per_group": 1}
    )
    counts = folder.ask(dataset_of(), query)
    assert counts.sum() == 60
    assert counts.min() > 0


def test_another_salt_chooses_other_groups(folder: Folder) -> None:
    folder.csv([(f"p{person}", ward, "", "", "", "") for person in range(60) for ward in "abc"])
    query = query_of(
        group_by=[{"column": "ward"}], contribution={"max_groups": 1, "max_rows_per_group": 1}
    )
    answers = {tuple(folder.ask(dataset_of(), query, salt=bytes([n] * 32))) for n in range(4)}
    assert len(answers) > 1


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("=", 50, 2),
        ("!=", 50, 3),
        ("<", 40, 2),
        ("<=", 40, 3),
        (">", 40, 2),
        (">=", 40, 3),
        ("in", [30, 40], 2),
        ("not_in", [30, 40], 4),
    ],
)
def test_conditions_keep_the_rows_that_meet_them(
    folder: Folder, op: str, value: object, expected: int
) -> None:
    folder.csv(ROWS)
    query = query_of(
        where=[{"column": "age", "op": op, "value": value}],
        contribution={"max_rows_per_group": 2},
    )
    assert folder.ask(dataset_of(), query).tolist() == [expected]


def test_all_conditions_must_hold_and_a_missing_cell_meets_none(folder: Folder) -> None:
    folder.csv([*ROWS, ("dan", "a", "", 1, "true", ""), ("eve", "a", "old", 1, "true", "")])
    query = query_of(
        where=[
            {"column": "age", "op": "!=", "value": 30},
            {"column": "urgent", "op": "=", "value": True},
            {"column": "day", "op": ">=", "value": "2026-01-02"},
        ]
    )
    assert folder.ask(dataset_of(), query).tolist() == [2]


def test_each_row_can_be_a_privacy_unit_of_its_own(folder: Folder) -> None:
    folder.csv(ROWS)
    dataset = dataset_of(unit={"rows": 1})
    assert folder.ask(dataset, query_of(group_by=[{"column": "ward"}])).tolist() == [4, 1, 1]
    total = query_of({"type": "sum", "column": "cost"})
    assert folder.ask(dataset, total).tolist() == [2 + 5 + 6 - 8 + 100 - 20]
    assert folder.ask(dataset, query_of()).tolist() == [6]


def test_totals_saturate_at_the_declared_number_of_people(folder: Folder) -> None:
    folder.csv([(f"p{person}", "a", "", -10, "", "") for person in range(9)])
    count = query_of(contribution={"max_rows_per_group": 1})
    total = query_of({"type": "sum", "column": "cost"}, contribution={"max_rows_per_group": 1})
    dataset = dataset_of(max_units=5)
    assert folder.ask(dataset, count).tolist() == [5]
    assert folder.ask(dataset, total).tolist() == [-9 * 20]
    assert folder.ask(dataset_of(max_units=1), total).tolist() == [-100]
