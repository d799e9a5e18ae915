"""Test ``describe`` of datasets and queries, and what is shown of their texts."""

import json
from pathlib import Path

from tests.unit.cli.program_runs import Run

TEXTS = {"title": "Sites of a city", "unit": "visits", "tags": ["web"], "labels": {"0": "North"}}


def test_texts_are_changed_and_shown(here: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    changed = here("dataset", "describe", "sites", "texts.json", "--format", "json")
    assert {name: changed.json[name] for name in TEXTS} == TEXTS
    shown = here("dataset", "show", "sites").out
    for line in ("title Sites of a city", "unit visits", "tags web", "labels of keys 1"):
        assert line in shown
    assert "description" not in shown


def test_every_mistake_is_named(here: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps({"title": "a\u0007", "tags": ["a,b"]}))
    refused = here("dataset", "describe", "sites", "texts.json")
    assert refused.code == 1
    assert "/title" in refused.err
    assert "/tags/0" in refused.err
