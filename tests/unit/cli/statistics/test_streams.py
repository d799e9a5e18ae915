"""``stream open``, ``push``, ``read``, ``levels``, ``show`` and ``list``."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Result, Run

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
    assert [one["first"] for one in moved.json["tiers"]] == [1, 1, 4]
    assert opened("stream", "show", "hits", "--format", "json").json["next"] == 4
    assert [one["name"] for one in opened("stream", "list", "--format", "json").json] == ["hits"]
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


def test_a_preview_compares_structures_below_the_charges(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(json.dumps({**HITS, "structure": "auto", "length": 250}))
    shown = here("stream", "preview", "sent.json")
    assert (shown.code, shown.err) == (0, "")
    facts, tiers, heading, structures = shown.out.split("\n\n")
    assert facts.startswith("hits over sites, version 1, not opened\n  250 elements")
    assert [line.split()[0] for line in tiers.splitlines()] == [
        "tier",
        "public",
        "partner",
        "internal",
    ]
    assert "the guarantee of internal, over 250 elements" in heading
    chosen = [line for line in structures.splitlines() if "chosen, least mean" in line]
    assert len(chosen) == 1
    assert chosen[0].split()[0] in ("kary", "smooth_binary")
    told = here("stream", "preview", "sent.json", "--format", "json").json
    listed = [line.split()[0] for line in structures.splitlines()[1:]]
    assert listed == [one["structure"] for one in told["structures"]]
    table = here("stream", "preview", "sent.json", "--format", "csv").out.splitlines()
    assert [row.split(",")[0] for row in table] == ["tier", "public", "partner", "internal"]
    assert here("stream", "show", "hits").code == 1


def test_a_preview_says_what_does_not_fit(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(json.dumps({**HITS, "levels": {"public": {"epsilon": 50}}}))
    shown = here("stream", "preview", "sent.json")
    assert shown.code == 0
    refused = here("stream", "open", "sent.json")
    assert (refused.code, refused.err) == (3, f"Error: {shown.err}")
