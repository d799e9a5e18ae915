"""Test that a program reaches every module, by itself or by a name that it takes."""

from pathlib import Path

import pytest
from tests.support.places import ROOT
from tests.unit.repository.reach import Package

from penstock.cli.program import COMMANDS
from penstock.experiments.catalog import EXPERIMENTS

PACKAGES = {
    "penstock": Package(ROOT / "server/penstock"),
    "penstock_client": Package(ROOT / "clients/python/src/penstock_client"),
}

ENTRANCES = {
    "penstock": ("penstock.__main__", "penstock.api.__main__", "penstock.application"),
    "penstock_client": (
        "penstock_client",
        "penstock_client.command",
        "penstock_client.derived",
        "penstock_client.lomas",
        "penstock_client.offline",
    ),
}
"""What programs, gunicorn and embedders import first."""

BY_NAME = (
    *sorted({place.partition(":")[0] for place in COMMANDS.values()}),
    *sorted(
        {f"penstock.experiments.{each.place.partition(':')[0]}" for each in EXPERIMENTS.values()}
    ),
    "penstock.cli.home.launch",
    "penstock.computing.child",
    "penstock.services.computations.job_kinds",
    "penstock.http.intake",
    "penstock.http.intake.malformed",
    "penstock.persistence.editions",
)
"""What is started by its name, in a process of its own or by gunicorn's configuration."""

LIBRARY = {
    **dict.fromkeys(
        (
            "penstock.mechanisms.randomized_response",
            *(
                f"penstock.mechanisms.randomized_response.{module}"
                for module in ("estimates", "law", "process")
            ),
        ),
        "answers of single people, which no query of the server has",
    ),
    "penstock.accounting.reporting.readings": "every theorem's figure; the server prints the least",
    "penstock.mechanisms.exponential": "noise that protects too little for a query by itself",
    "penstock.mechanisms.exponential.law": "how it splits",
    "penstock.mechanisms.exponential.process": "the process",
}
"""What is offered to those who embed the library and reached by no program, with the reason."""


def reached(package: str) -> set[str]:
    begun = (*ENTRANCES[package], *BY_NAME)
    return PACKAGES[package].reached(name for name in begun if name in PACKAGES[package].paths)


@pytest.mark.parametrize("package", PACKAGES)
def test_something_reaches_every_module(package: str) -> None:
    library = {name for name in LIBRARY if name.partition(".")[0] == package}
    assert set(PACKAGES[package].paths) - reached(package) == library


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a package with one module, ``used``, that its program imports through a facade."""
    folder = tmp_path / "house"
    (folder / "room").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "room/__init__.py").write_text("from house.room.used import Used\n")
    (folder / "room/used.py").write_text("class Used: ...\n")
    (folder / "program.py").write_text("from house.room import Used\n")
    return folder


def left(folder: Path) -> set[str]:
    package = Package(folder)
    return set(package.paths) - package.reached(["house.program"])


def test_what_a_program_takes_from_a_facade_is_reached(house: Path) -> None:
    assert left(house) == set()
    (house / "program.py").write_text("from house import room\nroom.Used()\n")
    assert left(house) == set()
    (house / "program.py").write_text("def late():\n    import house.room.used\n")
    assert left(house) == set()


def test_what_only_a_facade_imports_is_found(house: Path) -> None:
    (house / "room/more.py").write_text("class More: ...\n")
    with (house / "room/__init__.py").open("a") as facade:
        facade.write('from house.room.more import More\n__all__ = ["More", "Used"]\n')
    assert left(house) == {"house.room.more"}


def test_what_a_facade_uses_itself_is_reached(house: Path) -> None:
    (house / "room/more.py").write_text("class More: ...\n")
    with (house / "room/__init__.py").open("a") as facade:
        facade.write("from house.room.more import More\nMore()\n")
    assert left(house) == set()


def test_a_module_of_a_folder_that_is_no_package_is_found(house: Path) -> None:
    (house / "loose").mkdir()
    (house / "loose/lost.py").touch()
    assert left(house) == {"house.loose.lost"}


def test_what_is_imported_for_annotations_alone_is_found(house: Path) -> None:
    (house / "typed.py").write_text("class Typed: ...\n")
    lines = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from house.typed import T\n"
    with (house / "program.py").open("a") as program:
        program.write(lines)
    assert left(house) == {"house.typed"}
