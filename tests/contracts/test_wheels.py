"""Test what is inside the wheels: everything that runs, and nothing else."""

import os
import re
import subprocess
import sys
import tomllib
from email.message import Message
from email.parser import Parser
from hashlib import sha256
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder
from tests.contracts.distributions import Wheels, build

import penstock
import penstock_client
from penstock.experiments.catalog import EXPERIMENTS

SERVER_INFORMATION = f"penstock-{penstock.__version__}.dist-info"
CLIENT_INFORMATION = f"penstock_client-{penstock_client.__version__}.dist-info"
INFORMATION = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")


def expected(wheels: Wheels, moved: dict[str, str], information: str) -> dict[str, Path | None]:
    """Return the files that a wheel must have, each with the tracked file that it is a copy of."""
    copies: dict[str, Path | None] = {
        str(PurePosixPath(there) / PurePosixPath(name).relative_to(here)): wheels.source / name
        for here, there in moved.items()
        for name in wheels.copied(here)
    }
    return {**copies, **{f"{information}/{name}": None for name in INFORMATION}}


def assert_holds(wheel: Path, wanted: dict[str, Path | None]) -> None:
    with ZipFile(wheel) as archive:
        # What is built is no copy of a tracked file: tests/docs test it.
        assert sorted(name for name in archive.namelist() if not is_built(name)) == sorted(wanted)
        for name, copied in wanted.items():
            assert copied is None or archive.read(name) == copied.read_bytes(), name


def is_built(name: str) -> bool:
    """Return whether a file of the server's wheel was made by the build."""
    return name.startswith(("penstock/site/", "penstock/wheels/"))


def test_the_servers_wheel_holds_the_clients_which_is_the_same_whenever_it_is_built(
    wheels: Wheels,
) -> None:
    """The hook built the one, and a build by itself the other."""
    with ZipFile(wheels.server) as archive:
        names = [name for name in archive.namelist() if name.startswith("penstock/wheels/")]
        assert names == [f"penstock/wheels/{wheels.client.name}"]
        assert archive.read(names[0]) == wheels.client.read_bytes()


def checksums(wheel: Path) -> dict[str, int]:
    """Return the checksum of every file in a wheel, which name a difference by its file."""
    with ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist()}


def test_both_have_equal_bytes_whenever_and_wherever_they_are_built(
    wheels: Wheels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    again = build(tmp_path, moment=1_000_000_000)
    assert again.source != wheels.source
    for first, second in ((wheels.server, again.server), (wheels.client, again.client)):
        assert first.name == second.name
        assert checksums(first) == checksums(second)
        assert sha256(first.read_bytes()).digest() == sha256(second.read_bytes()).digest()


def test_a_given_moment_is_that_of_every_file_in_a_wheel(
    wheels: Wheels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that leaves times as they are would be noticed: this one sets another on purpose."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    built = tmp_path / "dated"
    project = str(wheels.source / "clients/python")
    list(WheelBuilder(project).build(directory=str(built), versions=["standard"]))
    (dated,) = built.iterdir()
    with ZipFile(dated) as archive:
        assert {each.date_time for each in archive.infolist()} == {(2001, 9, 9, 1, 46, 40)}
    assert dated.read_bytes() != wheels.client.read_bytes()


def metadata(wheel: Path, information: str) -> Message:
    with ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(f"{information}/METADATA").decode())


def required(found: Message) -> set[str]:
    """Return the names of what is installed along, extras apart."""
    lines = [line for line in found.get_all("Requires-Dist", []) if "extra ==" not in line]
    return {re.split(r"[^\w.-]", line)[0] for line in lines}


def test_the_servers_wheel_holds_every_tracked_file_that_runs_and_no_other(wheels: Wheels) -> None:
    moved = {
        "server/penstock": "penstock",
        "migrations": "penstock/migrations",
        "deploy/gunicorn.conf.py": "penstock/deploy/gunicorn.conf.py",
    }
    assert_holds(wheels.server, expected(wheels, moved, SERVER_INFORMATION))


def test_the_clients_wheel_holds_every_tracked_file_that_runs_and_no_other(wheels: Wheels) -> None:
    moved = {
        "clients/python/src/penstock_client": "penstock_client",
        "server/penstock/web/charts": "penstock_client/_show/charts",
    }
    assert_holds(wheels.client, expected(wheels, moved, CLIENT_INFORMATION))


@pytest.mark.parametrize(
    "name",
    [
        "penstock/py.typed",
        "penstock/migrations/env.py",
        "penstock/migrations/script.py.mako",
        "penstock/migrations/versions/0001_initial.py",
        "penstock/deploy/gunicorn.conf.py",
        "penstock/site/index.html",
        "penstock/site/reference/api/releases/index.html",
        "penstock/site/search/search_index.json",
        "penstock/web/templates/analyst/front.html",
        "penstock/web/static/penstock.css",
        "penstock/web/static/vendor/htmx.min.js",
        "penstock/web/static/vendor/manifest.json",
        "penstock/demo/dataset.json",
        "penstock/demo/data/health_insurance_experiment.parquet",
        "penstock/demo/data/ORIGIN.md",
        "penstock/demo/data/LICENSE-statsmodels.txt",
        f"{SERVER_INFORMATION}/licenses/LICENSE",
    ],
)
def test_what_a_server_reads_beside_its_modules_is_in_its_wheel(wheels: Wheels, name: str) -> None:
    """By name: whatever is not tracked would be missed by neither side of the test above."""
    with ZipFile(wheels.server) as archive:
        assert name in archive.namelist()


def test_neither_wheel_holds_tests_or_bytecode(wheels: Wheels) -> None:
    """The copy that they were built from had bytecode in it, and all tests."""
    for wheel in (wheels.server, wheels.client):
        with ZipFile(wheel) as archive:
            for name in map(PurePosixPath, archive.namelist()):
                assert name.suffix != ".pyc"
                assert not {"tests", "__pycache__"} & set(name.parts)


def test_both_say_what_they_are_and_under_which_license(wheels: Wheels) -> None:
    assert penstock.__version__ == penstock_client.__version__
    for wheel, information in (
        (wheels.server, SERVER_INFORMATION),
        (wheels.client, CLIENT_INFORMATION),
    ):
        found = metadata(wheel, information)
        assert found["Version"] == penstock.__version__
        assert found["License-Expression"] == "Apache-2.0"
        assert found["Requires-Python"] == ">=3.11"
        assert str(found.get_payload()).startswith("# ")
        with ZipFile(wheel) as archive:
            text = archive.read(f"{information}/licenses/LICENSE")
        assert text == (wheels.source / "LICENSE").read_bytes()


def test_the_client_needs_http_a_command_line_and_tables_alone(wheels: Wheels) -> None:
    needed = {"click", "httpx", "tabulate", "wcwidth"}
    assert required(metadata(wheels.client, CLIENT_INFORMATION)) == needed


def test_the_server_needs_none_of_the_tools_that_it_is_made_with(wheels: Wheels) -> None:
    project = tomllib.loads((wheels.source / "pyproject.toml").read_text())["project"]
    needed = required(metadata(wheels.server, SERVER_INFORMATION))
    assert {"flask", "gunicorn", "numpy"} <= needed
    for extra in project["optional-dependencies"].values():
        assert not needed & {re.split(r"[^\w.-]", line)[0] for line in extra}


def test_each_brings_its_program(wheels: Wheels) -> None:
    for wheel, information, line in (
        (wheels.server, SERVER_INFORMATION, "penstock = penstock.cli:main"),
        (wheels.client, CLIENT_INFORMATION, "penstock-client = penstock_client.command:main"),
    ):
        with ZipFile(wheel) as archive:
            declared = archive.read(f"{information}/entry_points.txt").decode()
        assert declared.split("\n")[:2] == ["[console_scripts]", line]


def test_the_servers_wheel_draws_the_papers_figures_by_itself(
    wheels: Wheels, tmp_path: Path
) -> None:
    command = [sys.executable, "-P", "-m", "penstock", "figures", "correlated"]
    environment = {**os.environ, "PYTHONPATH": str(wheels.server)}
    drawn = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert drawn.stdout == EXPERIMENTS["correlated"].draw().svg
