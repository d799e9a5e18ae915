"""Test that a value drawn just now looks like an older one, also for histograms and means."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.queries.loans import BOOKS, LOANS
from tests.api.queries.loans import ROWS as LENT
from tests.api.queries.people import ASKED, PEOPLE
from tests.api.queries.people import ROWS as HABITS
from tests.api.sight.granting import granted
from tests.api.world import QUANTUM, World

from penstock.http.pacing import VALUES_PER_QUANTUM
from penstock.services.noise.kinds.sparse_histogram import HISTOGRAM_WORK

QUERIES = "/api/v1/queries"
MEAN: dict[str, Any] = {
    "name": "ages",
    "dataset": "people",
    "aggregate": {"type": "mean", "column": "age", "lower": 0, "upper": 100},
    "contribution": {"max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.005}, "internal": {"rho": 0.5}},
}
AGED = "\n".join(
    f"{row},{'age' if place == 0 else place % 80}"
    for place, row in enumerate(HABITS.strip().splitlines())
)
OF_AGE = {**PEOPLE, "columns": {**PEOPLE["columns"], "age": {"type": "integer"}}}
CASES = {
    "sparse histogram": (LOANS, LENT, BOOKS, HISTOGRAM_WORK),
    "correlated": (OF_AGE, AGED, ASKED, 0),
    "mean": (OF_AGE, AGED, MEAN, 0),
}


@pytest.mark.only("sqlite")
@pytest.mark.parametrize("body", [{}, {"rho": 0.02}], ids=["a tier's level", "a level between"])
@pytest.mark.parametrize("case", CASES)
def test_a_first_grant_that_draws_looks_like_one_that_finds(
    open_copy: Callable[..., World], tmp_path: Path, case: str, body: dict[str, Any]
) -> None:
    """On two servers that draw under the same keys, on one of which somebody was there before."""
    dataset, rows, query, work = CASES[case]
    file = tmp_path / "rows.csv"
    file.write_text(rows)
    answers = []
    for before in (False, True):
        world = open_copy(request_rate=0)
        source = {"engine": "duckdb", "uri": str(file)}
        world.answer("POST", "/api/v1/datasets", {**dataset, "source": source}, by="root")
        world.answer("POST", QUERIES, query, by="root")
        path = f"{QUERIES}/{query['name']}/releases"
        answers.append(granted(world, "POST", path, body, before=before))
    status, *_, slept = answers[0]
    assert status == 200
    assert answers[0] == answers[1]
    quanta = 1 + work // VALUES_PER_QUANTUM
    assert slept == [pytest.approx(quanta * QUANTUM)]
