"""Test that another file of the same people is another dataset: whoever registers it is told."""

from pathlib import Path

from tests.unit.services.datasets.stays import STAYS, register, written
from tests.unit.worlds import World

from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets, look_alikes
from penstock.services.schemas.queries import DatasetRequest, VersionRequest


def test_csv_and_its_parquet_are_told_apart_from_nothing(world: World, tmp_path: Path) -> None:
    plain, packed = written(tmp_path)
    assert register(world, plain).notices == []
    again = register(world, packed, name="again")
    assert len(again.notices) == 1
    assert again.notices[0].startswith("Dataset 'stays' declares the same columns.")
    assert look_alikes.notices_of(world.server, OPERATOR, "stays")[0].startswith("Dataset 'again'")
    assert datasets.show(world.server, OPERATOR, "again").notices == []


def test_what_the_notice_says_adds_the_budgets_up(world: World, tmp_path: Path) -> None:
    plain, packed = written(tmp_path)
    register(world, plain)
    register(world, packed, name="again")
    corrections.withdraw(world.server, OPERATOR, "again")
    source = {"engine": "duckdb", "uri": str(packed)}
    wanted = {"source": source, "budgets": STAYS["budgets"]}
    datasets.add_version(world.server, OPERATOR, "stays", VersionRequest.model_validate(wanted))
    together = budgets.show(world.server, OPERATOR, "stays").together
    assert {one.tier: one.granted.epsilon for one in together}["internal"] == 16
    assert look_alikes.notices_of(world.server, OPERATOR, "stays") == []


def test_other_columns_or_other_units_are_no_look_alikes() -> None:
    def declared(unit: object, *columns: str) -> DatasetRequest:
        named = {name: {"type": "string"} for name in columns}
        source = {"engine": "duckdb", "uri": "x.csv"}
        wanted = {**STAYS, "source": source, "privacy_unit": unit, "columns": named}
        return DatasetRequest.model_validate(wanted)

    person = {"column": "person"}
    own = declared(person, "person", "town", "visits", "age")
    assert look_alikes.alike(own, declared({"column": "PERSON"}, "PERSON", "TOWN", "Visits", "x"))
    few = look_alikes.alike(declared(person, "person"), own)
    assert few == "1 of the 1 columns of this one, and 4 in all"
    assert not look_alikes.alike(own, declared(person, "person", "town", "x", "y"))
    assert not look_alikes.alike(own, declared({"column": "town"}, "person", "town", "visits"))
    assert not look_alikes.alike(own, declared({"rows": 1}, "person", "town", "visits"))
    assert look_alikes.alike(declared({"rows": 1}, "a", "b"), declared({"rows": 1}, "a", "b", "c"))
