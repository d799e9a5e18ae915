"""Test ``penstock`` on a dataset with delta 0: registered, refused by name, released, accounted."""

import json
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import SITES, VISITS

PURE = {**SITES, "name": "pure", "delta": 0}
COUNTS = {**VISITS, "name": "counts", "dataset": "pure", "mechanism": "laplace", "granularity": 1}


def write(folder: Path, name: str, content: object) -> str:
    (folder / name).write_text(json.dumps(content))
    return name


@pytest.fixture
def pure(here: Run, tmp_path: Path) -> Run:
    """Return a home with a dataset of delta 0."""
    made = here("dataset", "register", write(tmp_path, "pure.json", PURE), "--format", "json")
    assert made.code == 0, made.err
    assert made.json["delta"] == 0
    return here


def test_a_release_is_registered_drawn_and_accounted(pure: Run, tmp_path: Path) -> None:
    spec = write(tmp_path, "counts.json", COUNTS)
    seen = pure("query", "preview", spec)
    assert seen.code == 0, seen.err
    assert pure("query", "register", spec).code == 0
    release = pure("release", "counts", "--as", "ines", "--format", "json")
    assert release.code == 0, release.err
    assert release.json["granularity"] == 1
    assert release.json["guarantee"]["delta"] == 0
    left = pure("dataset", "budget", "pure", "--format", "json")
    assert left.code == 0, left.err
    assert {line["spent"]["delta"] for line in left.json["tiers"]} == {0}


@pytest.mark.parametrize("mechanism", ["gaussian", "poisson", "skellam"])
def test_other_noise_is_refused_by_name(pure: Run, tmp_path: Path, mechanism: str) -> None:
    other = {**VISITS, "name": "counts", "dataset": "pure", "mechanism": mechanism}
    refused = pure("query", "register", write(tmp_path, "counts.json", other))
    assert refused.code != 0
    assert f"{mechanism} noise breaks every epsilon" in refused.err
