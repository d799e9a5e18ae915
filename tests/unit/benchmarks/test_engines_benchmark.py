"""Test that engines are compared with their own plain SQL, in processes of their own."""

import pytest
from tests.benchmarks.database.engines import Setting, measure


@pytest.mark.nightly
def test_engines_are_compared_with_their_own_sql() -> None:
    said: list[str] = []
    engines = ("duckdb", "clickhouse")
    figures = measure(Setting(rows=20_000, engines=engines, rounds=1), said.append)
    assert [str(figure.goal) for figure in figures if figure.goal] == ["<= 1.5", "<= 1.5"]
    assert [figure.name.partition(":")[0] for figure in figures] == [
        engine for engine in engines for _ in range(4)
    ]
    assert said[0].startswith("20,000 rows")
