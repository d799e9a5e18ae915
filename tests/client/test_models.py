"""Test that answers are read into plain values, or refused."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.client.servers.means import MEAN, MEANS
from tests.client.servers.previews import COMPOSED

from penstock_client import Client, ErrorBars, ProtocolError, Release
from penstock_client._http.fields import Fields
from penstock_client.models import Dataset

EXPOSURE = "GET /api/v1/audit/exposure"


def dataset(answer: Mapping[str, object]) -> Dataset:
    return Dataset.read(Fields({"name": "stays", **answer}, "dataset"))


def test_parts_that_are_not_one_for_each_key_are_no_answer() -> None:
    for name in ("lower", "upper", "centered_sums", "counts"):
        with pytest.raises(ProtocolError, match=name):
            Release.read(Fields({**MEANS, "mean": {**MEAN, name: [1.0]}}, "release"))


def test_a_dataset_says_how_its_charges_add_up() -> None:
    assert dataset({"accountant": "gaussian"}).accountant == "gaussian"


def test_a_dataset_that_states_little_is_read() -> None:
    plain = dataset({})
    assert (plain.budgets, plain.columns, plain.same_people_as) == ({}, {}, ())
    assert dataset({"same_people_as": ["visits"]}).same_people_as == ("visits",)


def test_an_answer_is_kept_whole_and_read_only() -> None:
    read = dataset({"surprise": 1})
    assert read.answer["surprise"] == 1
    with pytest.raises(TypeError):
        read.answer["surprise"] = 2  # type: ignore[index] # writing is what is refused


def test_an_exposure_lists_every_level_that_is_held(
    client: Client, answers: dict[str, Any]
) -> None:
    answers[EXPOSURE]["queries"][0]["composed"] = COMPOSED
    query = client.exposure(["ann"]).queries[0]
    assert query.composed is not None
    assert query.composed.levels == (73.1, 138.6)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.5])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    answer = {"standard_deviation": 1.0, "confidence": confidence, "half_width": 2.0}
    with pytest.raises(ProtocolError, match="confidence"):
        ErrorBars.read(Fields(answer, "error"))
