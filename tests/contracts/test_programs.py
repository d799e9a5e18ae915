"""Test the installed programs.

Where they come from, what they need, and what they read to start.
"""

import json
import re
from pathlib import Path, PurePosixPath

import pytest
from tests.contracts.distributions import Installation, Wheels, checked, pip

import penstock

pytestmark = pytest.mark.slow

# What takes long to import, and what belongs to extras or to our own tools.
HEAVY = {
    *("numpy", "scipy", "duckdb", "pyarrow", "sqlalchemy", "sqlmodel", "alembic"),
    *("pydantic", "flask", "gunicorn", "randomgen", "cryptography"),
}
OPTIONAL = {
    "pandas",
    "polars",
    "dp-accounting",
    "mpmath",
    "opendp",
    "psycopg",
    "pytest",
    "hypothesis",
    "hatchling",
    "mypy",
    "ruff",
}
# The modules that may lack what an extra brings, by how their names begin.
FOR_AN_EXTRA = {
    "penstock.connectors.clickhouse.embedded": "chdb",
    "penstock.connectors.postgresql.": "adbc_driver_manager",
    "penstock.connectors.storage.tables.iceberg_files": "pyiceberg",
    "penstock.persistence.postgresql.": "psycopg",
    "penstock.persistence.backups.postgresql_dump": "psycopg",
}
IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
missing = {package.__name__: None}
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
            missing[module.name] = None
        except ModuleNotFoundError as error:
            missing[module.name] = error.name
print(json.dumps(missing))
"""
WHERE = "import importlib, sys; print(importlib.import_module(sys.argv[1]).__file__)"


def distributions(installation: Installation) -> set[str]:
    """Return the names of everything that is installed."""
    listed = json.loads(checked([*pip(installation.folder), "list", "--format", "json"]))
    return {str(item["name"]).lower().replace("_", "-") for item in listed}


def imported(installation: Installation, folder: Path, *words: str) -> set[str]:
    """Return the packages that a program read, by Python's own account."""
    program, *arguments = words
    started = ("-X", "importtime", str(installation.programs / program), *arguments)
    done = installation.done("python", "-I", *started, folder=folder)
    assert done.returncode == 0, done.stderr
    return {
        name.split(".")[0]
        for name in re.findall(r"^import time:.*\| +([\w.]+)$", done.stderr, re.M)
    }


def modules_below(wheels: Wheels, folder: str, package: str) -> set[str]:
    """Return every module of a package in a folder of the source, programs apart."""
    names = {
        ".".join(PurePosixPath(name).relative_to(folder).with_suffix("").parts)
        for name in wheels.copied(f"{folder}/{package}")
        if name.endswith(".py")
    }
    return {name.removesuffix(".__init__") for name in names if not name.endswith("__main__")}


@pytest.mark.parametrize("package", ["penstock", "penstock_client"])
def test_the_packages_come_from_the_wheels(
    installed: Installation, tmp_path: Path, package: str
) -> None:
    found = installed.run("python", "-I", "-c", WHERE, package, folder=tmp_path)
    assert Path(found.strip()).is_relative_to(installed.folder)
    assert "site-packages" in found


@pytest.mark.parametrize(
    ("package", "folder"), [("penstock", "server"), ("penstock_client", "clients/python/src")]
)
def test_every_module_can_be_imported_without_any_extra(
    wheels: Wheels, installed: Installation, tmp_path: Path, package: str, folder: str
) -> None:
    """Those for an extra may lack what it brings, and nothing of ours."""
    printed = installed.run("python", "-I", "-c", IMPORT_EVERYTHING, package, folder=tmp_path)
    missing = json.loads(printed)
    assert missing.keys() == modules_below(wheels, folder, package)
    lacking = {name: lacked for name, lacked in missing.items() if lacked is not None}
    allowed = {
        name: brought
        for start, brought in FOR_AN_EXTRA.items()
        for name in lacking
        if name.startswith(start)
    }
    assert lacking == allowed


def test_a_database_that_needs_an_extra_is_refused_by_its_name(
    installed: Installation, tmp_path: Path
) -> None:
    installed.run("penstock", "init", folder=tmp_path)
    url = "postgresql://127.0.0.1/penstock"
    done = installed.done("penstock", "tier", "list", folder=tmp_path, PENSTOCK_DATABASE_URL=url)
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'penstock[postgres]'" in done.stderr


def test_no_extra_and_no_tool_of_ours_is_installed_along(installed: Installation) -> None:
    found = distributions(installed)
    assert {"penstock", "penstock-client", "flask", "gunicorn"} <= found
    assert not found & OPTIONAL


def test_the_client_brings_neither_the_server_nor_what_it_needs(
    wheels: Wheels, client_alone: Installation, tmp_path: Path
) -> None:
    found = distributions(client_alone)
    assert {"penstock-client", "click", "httpx"} <= found
    assert not found & {*HEAVY, *OPTIONAL, "penstock", "werkzeug", "jinja2"}
    arguments = ("-I", "-c", IMPORT_EVERYTHING, "penstock_client")
    missing = json.loads(client_alone.run("python", *arguments, folder=tmp_path))
    assert missing == dict.fromkeys(modules_below(wheels, "clients/python/src", "penstock_client"))


@pytest.mark.parametrize(
    "words",
    [
        ("penstock", "--help"),
        ("penstock", "--version"),
        ("penstock", "serve", "--help"),
        ("penstock-client", "--help"),
        ("penstock-client", "release", "--help"),
    ],
)
def test_help_reads_nothing_heavy(
    installed: Installation, tmp_path: Path, words: tuple[str, ...]
) -> None:
    found = imported(installed, tmp_path, *words)
    assert {"click", words[0].replace("-", "_")} <= found
    assert not found & HEAVY
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_reads_the_database_does_read_what_is_heavy(
    installed: Installation, tmp_path: Path
) -> None:
    """The check above would find it."""
    assert {"sqlalchemy", "alembic"} <= imported(installed, tmp_path, "penstock", "init")


def test_the_package_runs_as_the_program_does(installed: Installation, tmp_path: Path) -> None:
    shown = installed.run("penstock", "--version", folder=tmp_path)
    assert shown == f"penstock {penstock.__version__}\n"
    assert installed.run("python", "-I", "-m", "penstock", "--version", folder=tmp_path) == shown
