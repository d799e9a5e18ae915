"""Test that the start of a dataset's file holds what was declared, and leaves the rest open."""

import tomllib
from pathlib import Path

import pytest

from penstock.connectors.specs.draft import Declared, drafted
from penstock.errors import InvalidInput


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "visits.csv"
    file.write_text('person,age,"a ""ward"""\nann,7,north\n')
    return file


def test_what_is_declared_is_read_back(path: Path) -> None:
    declared = Declared(
        privacy_unit="person",
        types={"person": "string"},
        categories={'a "ward"': ("north", 'so"uth')},
        bounds={"age": ("0", "120")},
        budgets={"public": 0.5},
    )
    read = tomllib.loads(drafted(path, "visits", declared))
    assert read["name"] == "visits"
    assert read["source"]["uri"] == str(path)
    assert read["privacy_unit"] == {"column": "person"}
    assert read["columns"]["age"] == {"type": "integer", "lower": 0, "upper": 120}
    assert read["columns"]['a "ward"']["categories"] == ["north", 'so"uth']
    assert read["budgets"] == {"public": 0.5}


def test_bounds_with_a_fraction_declare_a_number(path: Path) -> None:
    declared = Declared(bounds={"age": ("0", "1.5", "0.5")})
    read = tomllib.loads(drafted(path, "visits", declared))
    assert read["columns"]["age"] == {"type": "number", "lower": 0, "upper": 1.5, "step": 0.5}


def test_no_cell_is_copied(path: Path) -> None:
    text = drafted(path, "visits", Declared())
    assert "ann" not in text
    assert "north" not in text
    assert tomllib.loads(text)["privacy_unit"] == {}


def test_a_column_that_the_file_lacks_is_refused_at_its_place(path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        drafted(path, "visits", Declared(privacy_unit="name", bounds={"size": ("0", "1")}))
    assert [at for at, _ in refused.value.errors] == ["/columns/name", "/columns/size"]


def test_categories_of_an_integer_are_integers(path: Path) -> None:
    declared = Declared(types={"age": "integer"}, categories={"age": ("1", "one")})
    with pytest.raises(InvalidInput) as refused:
        drafted(path, "visits", declared)
    assert [at for at, _ in refused.value.errors] == ["/columns/age/categories"]
