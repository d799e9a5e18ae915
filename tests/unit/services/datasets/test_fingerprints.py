"""Test that a file is compared with those that are registered, last of all, and leaves a trace."""

from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import Conflict, InvalidInput, NameTaken
from penstock.persistence.tables import Dataset
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.schemas.queries import DatasetRequest


@pytest.mark.parametrize(
    ("flaw", "error"),
    [({"budgets": {"moon": {"epsilon": 1}}}, InvalidInput), ({"name": "sites"}, NameTaken)],
)
def test_a_file_is_compared_after_all_else_so_that_another_one_leaves_a_trace(
    visits: World, tmp_path: Path, flaw: dict[str, Any], error: type[Exception]
) -> None:
    known, guessed = tmp_path / "known.csv", tmp_path / "guessed.csv"
    known.write_text("who,town\nann,north\n")
    guessed.write_text("who,town\nann,south\n")

    def register(named: str, file: Path, **more: Any) -> None:
        spec = {
            "name": named,
            "source": {"engine": "duckdb", "uri": str(file)},
            "privacy_unit": {"column": "who"},
            "neighboring": "add_remove",
            "delta": 1e-6,
            "columns": {"who": {"type": "string"}},
            "budgets": {"public": {"epsilon": 1}},
            **more,
        }
        datasets.register(visits.server, OPERATOR, DatasetRequest.model_validate(spec))

    register("known", known)
    for file in (known, guessed):
        with pytest.raises(error):
            register("again", file, **flaw)
    with pytest.raises(Conflict, match="data are registered already"):
        register("again", known)
    with visits.server.database.read() as session:
        assert {one.name for one in session.exec(select(Dataset)).all()} == {"sites", "known"}
