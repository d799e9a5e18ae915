"""Test what the commands on streams print."""

from collections.abc import Callable
from pathlib import Path

import pytest


def test_streams_are_listed_and_read_by_command(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("stream", "list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["stream", "hits"]
    assert run("stream", "read", "hits", "--from", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "hits"
    assert [line.split() for line in lines[-2:]] == [["1", "4", "88"], ["2", "-1", "99"]]
    assert run("stream", "read", "hits", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,3.5,45.03,88.26"


def test_a_preview_is_two_tables(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "spec.json").write_text('{"name": "more"}')
    assert run("stream", "preview", str(tmp_path / "spec.json")) == 0
    _, tiers, heading, structures = capsys.readouterr().out.split("\n\n")
    assert tiers.splitlines()[1].split()[0] == "partner"
    assert "the guarantee of partner, over 250 elements" in heading
    rows = structures.splitlines()[1:]
    assert rows[0].endswith("chosen, least mean")
    assert rows[1].endswith("not opened here")
