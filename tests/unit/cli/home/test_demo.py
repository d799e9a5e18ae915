"""Test ``penstock demo`` as it is typed: in an empty folder, told, and served."""

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support import ending
from tests.unit.cli.program_runs import HANG_SECONDS, Run


@dataclass(frozen=True)
class Served:
    """Hold what the real program created in an empty folder, printed and served."""

    folder: Path
    printed: str
    url: str
    value: float
    ended: int


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """Provide ``penstock demo`` in an empty folder, served until it answered once."""
    folder = tmp_path_factory.mktemp("empty")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "penstock", "demo", "--port", str(port)],
        cwd=folder,
        env={**kept, "PENSTOCK_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ending.with_the_parent(),
    )
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if "Booting worker" in line:
                break
        # By now all of the story is in the pipe; it ends with this command.
        printed = ""
        while "penstock audit events" not in printed:
            printed += process.stdout.readline()
        token = re.search(r"rosa +restricted +(pst_\w\S+)", printed)
        assert token is not None
        url = f"http://127.0.0.1:{port}/api/v1/queries/hospital_patients/releases"
        request = urllib.request.Request(
            url,
            b"{}",
            {"Authorization": f"Bearer {token[1]}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=HANG_SECONDS) as answer:  # noqa: S310 - ours
            value = json.load(answer)["values"][0]
    finally:
        process.terminate()
        process.communicate(timeout=HANG_SECONDS)
    return Served(folder, printed, url, value, process.returncode)


@pytest.mark.nightly
def test_the_demo_is_told_in_an_empty_folder_and_served(served: Served) -> None:
    assert [path.name for path in served.folder.iterdir()] == ["penstock-demo"]
    for section in ("WHO SAW WHAT", "ALL LEARN TOGETHER", "TOKENS", "TO TRY"):
        assert section in served.printed
    shown = re.search(r"rosa .* ([\d,]+\.\d) +[\d,.]+ to", served.printed)
    assert shown is not None
    assert f"{served.value:,.1f}" == shown[1]
    assert served.url.split("/api")[0] in served.printed
    assert served.ended == 0


@pytest.mark.nightly
def test_the_story_can_be_read_by_programs(served: Served, run: Run) -> None:
    there = str(served.folder / "penstock-demo")
    printed = run("demo", "--no-serve", "--home", there, "--format", "json")
    assert (printed.code, printed.err) == (0, "")
    table = run("demo", "--no-serve", "--home", there, "--format", "csv").out
    rows = [line.split(",") for line in table.splitlines()]
    assert rows[0][:3] == ["reader", "tier", "query"]
    for row, seen in zip(rows[1:], printed.json["seen"], strict=True):
        assert row[:2] == [seen["reader"], seen["release"]["tier"]]
        assert float(row[5]) == seen["release"]["values"][0]
    assert (
        printed.json["together"]["released"]["epsilon"]
        < (printed.json["together"]["independent"]["epsilon"])
    )


def test_a_port_that_is_taken_is_found_before_anything_is_made(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("demo", "--port", str(taken.getsockname()[1]))
    assert (refused.code, refused.out) == (1, "")
    assert "--port" in refused.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("made", ["file", "folder"])
def test_what_is_there_already_is_left_alone(run: Run, tmp_path: Path, made: str) -> None:
    there = tmp_path / "there"
    if made == "file":
        there.write_text("mine")
    else:
        there.mkdir()
        (there / "notes.txt").write_text("mine")
    refused = run("demo", "--no-serve", "--home", "there")
    assert refused.code == (2 if made == "file" else 1)
    assert "there" in refused.err
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]
