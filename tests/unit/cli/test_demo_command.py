"""``penstock demo`` as it is typed: in an empty folder, told, and served."""

import json
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run, start


def test_the_demo_runs_in_an_empty_folder(tmp_path: Path, bare: Path) -> None:
    done = start("demo", "--no-serve", folder=tmp_path, home=bare)
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["penstock-demo"]
    for section in ("WHO SAW WHAT", "ALL LEARN TOGETHER", "TOKENS", "TO TRY"):
        assert section in done.out
    assert not bare.exists()


def test_the_story_can_be_read_by_programs(run: Run) -> None:
    told = run("demo", "--no-serve", "--home", "there", "--format", "json")
    assert told.code == 0
    table = run("demo", "--no-serve", "--home", "there", "--format", "csv").out
    rows = [line.split(",") for line in table.splitlines()]
    assert rows[0][:3] == ["reader", "tier", "query"]
    for row, seen in zip(rows[1:], told.json["seen"], strict=True):
        assert row[:2] == [seen["reader"], seen["release"]["tier"]]
        assert float(row[5]) == seen["release"]["values"][0]
    assert (
        told.json["together"]["released"]["epsilon"]
        < (told.json["together"]["independent"]["epsilon"])
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


def test_the_demo_serves_what_it_told(tmp_path: Path, bare: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "penstock", "demo", "--port", str(port)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if "Booting worker" in line:
                break
        # By now all of the story is in the pipe; it ends with this command.
        told = ""
        while "penstock audit events" not in told:
            told += process.stdout.readline()
        token = re.search(r"rosa +restricted +(pst_\w\S+)", told)
        shown = re.search(r"rosa .* ([\d,]+\.\d) +[\d,.]+ to", told)
        assert token is not None
        assert shown is not None
        url = f"http://127.0.0.1:{port}/api/v1/queries/hospital_patients/releases"
        assert url.split("/api")[0] in told
        request = urllib.request.Request(
            url,
            b"{}",
            {"Authorization": f"Bearer {token[1]}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - a URL of ours
            value = json.load(answer)["values"][0]
        assert f"{value:,.1f}" == shown[1]
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 0
