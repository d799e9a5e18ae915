"""Test the data that ship with the demonstration: small, of stated origin, and askable."""

import hashlib
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from penstock.connectors.choice import connector_of
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import (
    PreparedQuery,
    answer,
    check_source,
    fingerprint,
    prepare,
)
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.demo import calls
from penstock.services.schemas.queries import SpecRequest

ANY_QUERY: TypeAdapter[SpecRequest] = TypeAdapter(SpecRequest)
DEMO = Path(str(resources.files("penstock.demo")))
DATA = DEMO / "data"
TEXTS = ("title", "description", "unit", "tags")
QUERIES = sorted((DEMO / "queries").glob("*.json")) + sorted(DEMO.glob("later/queries/*.json"))


def _read(path: Path, *others: str) -> dict[str, Any]:
    """Return the data half of a spec; the rest belongs to the services."""
    body = json.loads(path.read_text(encoding="utf-8"))
    return {field: value for field, value in body.items() if field not in (*TEXTS, *others)}


@pytest.fixture(name="dataset")
def _dataset() -> DatasetSpec:
    return DatasetSpec.model_validate(_read(DEMO / "dataset.json", "delta", "budgets"))


def _query(name: str) -> ComputedQuery:
    path = DEMO / "queries" / f"{name}.json"
    return ComputedQuery.model_validate(_read(path, "mechanism", "levels"))


def _prepared(dataset: DatasetSpec, name: str) -> PreparedQuery:
    return prepare(dataset, _query(name), version=1, mechanism="gaussian")


def _answer(dataset: DatasetSpec, name: str) -> list[int]:
    key = bytes(32)
    values = answer(
        dataset,
        connector_of(dataset).statement(interpret(dataset, _query(name))),
        salt=bytes(32),
        fingerprint_key=key,
        fingerprint=fingerprint(dataset, key, Sources(DATA)),
        sources=Sources(DATA),
    ).steps
    return [int(value) for value in values]


def test_the_file_is_the_one_whose_origin_is_stated(dataset: DatasetSpec) -> None:
    path = DATA / str(dataset.source.uri)
    origin = (DATA / "ORIGIN.md").read_text(encoding="utf-8")
    digests = re.findall(r"`([0-9a-f]{64})`", origin)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in digests
    assert path.stat().st_size < 1_000_000
    assert "public domain" in origin
    assert "Redistribution and use" in (DATA / "LICENSE-statsmodels.txt").read_text()


def test_the_dataset_is_accepted(dataset: DatasetSpec) -> None:
    check_source(dataset, Sources(DATA))


def test_hospital_patients_are_counted_once_each(dataset: DatasetSpec) -> None:
    assert _prepared(dataset, "hospital_patients").sensitivity.l1 == 1
    assert _answer(dataset, "hospital_patients") == [1398]


def test_visits_add_up_under_each_plan(dataset: DatasetSpec) -> None:
    keys = _prepared(dataset, "doctor_visits_by_plan").keys
    assert keys is not None
    assert list(keys) == [
        "free care",
        "pays 25%",
        "pays 50%",
        "pays 95%",
        "individual deductible",
    ]
    assert _answer(dataset, "doctor_visits_by_plan") == [23164, 10783, 3532, 5375, 12551]


def test_years_are_counted_by_visits(dataset: DatasetSpec) -> None:
    counts = _answer(dataset, "years_by_visits")
    assert len(counts) == 5
    assert 19_000 < sum(counts) <= 20_190


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_every_query_is_named_after_its_file(dataset: DatasetSpec, path: Path) -> None:
    query = ANY_QUERY.validate_json(path.read_bytes())
    assert query.name == path.stem
    assert query.dataset == dataset.name


def test_the_calls_are_those_of_the_formula() -> None:
    assert [calls.on(day) for day in (1, 7, 8, 14, 15, 100)] == [41, 8, 41, 8, 42, 45]
    pushed = [int(str(call)) for _, values in calls.pushes() for call in values]
    assert pushed == [calls.on(day) for day in range(1, calls.DAYS + 1)]
    assert [first for first, _ in calls.pushes()] == [1, 31, 61, 91]
    assert calls.by_topic() == [sum(pushed) * part // 10 for part in (4, 3, 2, 1)]
