"""Provide a home with a sparse histogram, and what a process does there that the tests kill."""

import json
from pathlib import Path

from tests.faults.kills.steps import Steps
from tests.faults.stage import TIERS, analyst, build, open_home, opened

from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.schemas.queries import DatasetRequest, HistogramRequest, ReleaseRequest
from penstock.services.schemas.views import ReleaseView

LOANS = {
    "name": "loans",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {"person": {"type": "string"}, "book": {"type": "integer"}},
    "budgets": {tier: {"epsilon": 2} for tier in TIERS},
}


BOOKS = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 0.5,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
    "max_levels": 64,
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 1}},
}


def with_histogram(folder: Path) -> None:
    """Build a home with a sparse histogram over a file beside it."""
    build(folder, analysts=2)
    file = folder.with_name("loans.csv")
    rows = (f"p{number},{number % 3}\n" for number in range(900))
    file.write_text("person,book\n" + "".join(rows), encoding="utf-8")
    spec = {**LOANS, "source": {"engine": "duckdb", "uri": str(file)}}
    with opened(folder) as server:
        datasets.register(server, OPERATOR, DatasetRequest.model_validate(spec))
        registration.register(server, OPERATOR, HistogramRequest.model_validate(BOOKS))


def ask(server: Server, epsilon: float) -> ReleaseView:
    person = acting_as(server, analyst(1))
    wanted = ReleaseRequest.model_validate({"epsilon": epsilon})
    return releases.request(server, person, "books", wanted).view


def ask_once(home: Path, epsilon: float, steps: Steps, taken: Path) -> None:
    """Ask for a new level, and end at the step that ``steps`` names."""
    server = open_home(home)
    with steps.watching():
        ask(server, epsilon)
    taken.write_text(json.dumps(steps.taken))
