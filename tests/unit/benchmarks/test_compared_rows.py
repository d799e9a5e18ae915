"""Test the table of the comparison over HTTP, and its goals."""

from dataclasses import replace

import pytest
from tests.benchmarks.served.compared.rows import FIRST, HEADS, REPEAT, STORED, Row, Taken, markdown
from tests.benchmarks.served.readers import Heard, Visit


def visit(*milliseconds: float, begun: float = 100.0) -> Visit:
    heard = [Heard(200, b"", each / 1e3) for each in milliseconds]
    return Visit(heard, begun, begun + sum(milliseconds) / 1e3)


def taken(*milliseconds: float, server: float = 0.0) -> Taken:
    """Return what one client heard without a pause; ``server`` is milliseconds for each answer."""
    total = Taken()
    total.add([visit(*milliseconds)], server * len(milliseconds) / 1e3)
    return total


HELLO = taken(*[1.0] * 10)
ROW = Row(REPEAT, 1, taken(*[2.0] * 10, server=1.0), HELLO, "SQLite", tree="now", statements=5.5)


def test_pieces_are_added_up_without_the_time_between_them() -> None:
    total = Taken()
    total.add([visit(10, 30, begun=5.0), visit(20, 40, begun=5.02)], server=0.25, database=0.5)
    total.add([visit(20, begun=900.0)], server=0.75)
    assert total.answers == 5
    assert total.span == pytest.approx(0.08 + 0.02)
    assert total.rate == pytest.approx(50)
    assert total.percentile(50) == 20
    assert (total.server, total.database) == (1.0, 0.5)


def test_the_slowest_answers_are_never_slower_than_the_slowest_one() -> None:
    assert taken(7.0).percentile(99) == 7
    assert 9 < taken(*range(1, 11)).percentile(99) <= 10


@pytest.mark.parametrize(
    ("row", "goals"),
    [
        (ROW, ["share >= 0.3333: yes", "server <= 1.5: yes"]),
        (
            replace(ROW, taken=taken(*[4.0] * 10, server=2.0)),
            ["share >= 0.3333: **NO**", "server <= 1.5: **NO**"],
        ),
        (replace(ROW, request=FIRST), ["share >= 0.125: yes", "server <= 4: yes"]),
        (
            replace(ROW, request=FIRST, database="PostgreSQL"),
            ["share >= 0.1: yes", "server <= 4: yes"],
        ),
        (replace(ROW, request=STORED), []),
        (replace(ROW, quantum=0.025), []),
        (replace(ROW, hello=None), []),
        (
            replace(ROW, clients=16),
            ["share >= 0.3333: yes", "server <= 1.5: yes", "p99/p50 <= 10: yes"],
        ),
        (
            replace(ROW, request=FIRST, clients=16, masters=2, taken=taken(*[1.0] * 9, 2e5)),
            ["p99/p50 <= 10: **NO**", "p99 <= 1000: **NO**"],
        ),
    ],
)
def test_goals_are_those_of_the_request_the_database_and_the_clients(
    row: Row, goals: list[str]
) -> None:
    assert row.goals() == goals


def test_the_table_has_a_cell_for_every_head() -> None:
    plain = Row("hello-world", 1, HELLO)
    lines = markdown([plain, replace(ROW, quantum=0.025)]).splitlines()
    assert {line.count("|") for line in lines} == {len(HEADS) + 1}
    assert lines[1].startswith("| --- | ---: | --- | ---: |")
    assert lines[2] == "|  |  | hello-world | 1 |  | 1000 |  | 1.0 | 1.0 | 0.00 |  |  |  |"
    assert (
        lines[3] == "| SQLite | 25 ms | repeat | 1 | now | 500 | 0.500 | 2.0 | 2.0 | 1.00 |  | 5.5"
        " |  |"
    )


def test_masters_and_the_databases_own_time_are_shown() -> None:
    total = taken(1.0, 2.0)
    total.database = 0.006
    cells = replace(ROW, taken=total, masters=2, database="PostgreSQL").cells()
    named = dict(zip(HEADS, cells, strict=True))
    assert named["request"] == "repeat, 2 masters"
    assert named["database, ms"] == "3.00"
