"""Test ``stream preview``: structures are compared below the charges."""

import json
from pathlib import Path
from typing import Any

from tests.unit.cli.program_runs import Run

HITS: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "structure": "binary",
    "length": 8,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
}


def test_a_preview_compares_structures_below_the_charges(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(json.dumps({**HITS, "structure": "auto", "length": 250}))
    shown = here("stream", "preview", "sent.json")
    assert (shown.code, shown.err) == (0, "")
    facts, tiers, heading, structures, noise, noises = shown.out.split("\n\n")
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
    heading = "Noise at the same targets, each in the structure of auto, and the other tree:"
    assert noise == heading
    kinds = [line.split()[:3] for line in noises.splitlines()[1:]]
    assert [kind[0] for kind in kinds] == ["gaussian"] * 3 + ["laplace"] * 6
    assert [kind[1:] for kind in kinds[3::3]] == [["kary,", "subtracting"], ["kary", "public"]]
    assert kinds[0][1:] == ["square_root", "public"]
    preview = here("stream", "preview", "sent.json", "--format", "json").json
    listed = [line.split()[0] for line in structures.splitlines()[1:]]
    assert listed == [structure["structure"] for structure in preview["structures"]]
    table = here("stream", "preview", "sent.json", "--format", "csv").out.splitlines()
    assert [row.split(",")[0] for row in table] == ["tier", "public", "partner", "internal"]
    assert here("stream", "show", "hits").code == 1


def test_a_preview_says_what_does_not_fit(here: Run, tmp_path: Path) -> None:
    (tmp_path / "sent.json").write_text(json.dumps({**HITS, "levels": {"public": {"epsilon": 50}}}))
    shown = here("stream", "preview", "sent.json")
    assert shown.code == 0
    refused = here("stream", "open", "sent.json")
    assert (refused.code, refused.err) == (3, f"Error: {shown.err}")
