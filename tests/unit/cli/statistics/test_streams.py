"""Test ``stream open``, ``push``, ``read``, ``levels``, ``show`` and ``list``."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.program_runs import Result, Run

HITS: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "structure": "binary",
    "length": 8,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
}


def sent(here: Run, folder: Path, *words: str, content: object) -> Result:
    (folder / "sent.json").write_text(json.dumps(content))
    return here("stream", *words, "sent.json", "--format", "json")


@pytest.fixture
def opened(here: Run, tmp_path: Path) -> Run:
    assert sent(here, tmp_path, "open", content=HITS).code == 0
    return here


def test_a_stream_goes_through_its_life(opened: Run, tmp_path: Path) -> None:
    pushed = sent(opened, tmp_path, "push", "hits", content={"from": 1, "values": [1, 2, 3]})
    assert (pushed.code, pushed.json["next"]) == (0, 4)
    again = sent(opened, tmp_path, "push", "hits", content={"from": 1, "values": [1]})
    assert (again.code, "is number 4, not 1" in again.err) == (1, True)
    given = opened("stream", "read", "hits", "--as", "pia", "--format", "json").json
    assert [item["t"] for item in given["items"]] == [1, 2, 3]
    part = opened("stream", "read", "hits", "--as", "pia", "--from", "2", "--to", "2")
    assert part.code == 0
    assert "public" in part.out + part.err
    refused = opened("stream", "read", "hits", "--as", "pia", "--tier", "internal")
    assert refused.code == 3
    moved = sent(
        opened, tmp_path, "levels", "hits", content={"levels": {"internal": {"epsilon": 0.3}}}
    )
    assert moved.code == 0
    assert [tier["first"] for tier in moved.json["tiers"]] == [1, 1, 4]
    assert opened("stream", "show", "hits", "--format", "json").json["next"] == 4
    assert [stream["name"] for stream in opened("stream", "list", "--format", "json").json] == [
        "hits"
    ]
    assert "hits" in opened("stream", "list").out
    assert opened("stream", "retire", "hits", "--format", "json").json["status"] == "retired"
    full = sent(opened, tmp_path, "push", "hits", content={"from": 4, "values": [1]})
    assert (full.code, "is retired" in full.err) == (1, True)
    events = opened("audit", "events", "--kind", "stream", "--format", "json").json
    assert {event["actor"] for event in events} == {"operator"}
    assert {event["user"] for event in events} == {"pia"}


def test_a_stream_over_budget_exits_with_3(here: Run, tmp_path: Path) -> None:
    heavy = {**HITS, "levels": {"public": {"epsilon": 50}}}
    assert sent(here, tmp_path, "open", content=heavy).code == 3
    assert here("stream", "show", "hits").code == 1
