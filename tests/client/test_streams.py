"""Test streams and ranges of their running totals, read and as tables."""

import json
from typing import Any

import pandas as pd
import pytest
from tests.client.servers.answers import STREAM

from penstock_client import Client, ProtocolError, RunningTotals, Stream
from penstock_client._http.fields import Fields

FORMS = ["to_pandas", "to_polars", "to_arrow"]


@pytest.mark.parametrize("form", FORMS)
def test_totals_are_tables(client: Client, answers: dict[str, Any], form: str) -> None:
    answers["GET /api/v1/streams/hits/releases"]["items"][1]["values"] = [-1.0]
    table = getattr(client.stream("hits"), form)()
    frame = table if form == "to_pandas" else table.to_pandas().set_index("t")
    assert frame.index.name == "t"
    assert frame.index.tolist() == [1, 2]
    assert frame.columns.tolist() == ["total", "standard_deviation", "half_width"]
    assert frame["total"].tolist() == [3.5, -1.0]
    assert frame["half_width"].tolist() == [88.26, 99.0]


def test_a_frame_says_what_it_is_and_wide_totals_have_columns(
    client: Client, answers: dict[str, Any]
) -> None:
    for place, item in enumerate(answers["GET /api/v1/streams/hits/releases"]["items"]):
        item["values"] = [float(place), 5.0]
    totals = client.stream("hits")
    frame = totals.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame[["total_1", "total_2"]].to_numpy().tolist() == [[0, 5], [1, 5]]
    expected = {"stream": "hits", "dataset": "clicks", "tier": "partner", "epsilon": 0.6294}
    assert expected.items() <= frame.attrs.items()
    rest = json.loads(totals.to_arrow().schema.metadata[b"penstock"])
    assert rest["receipt"]["index"] == 41
    assert "items" not in rest


@pytest.mark.parametrize(
    ("length", "next_element", "following"), [(100, 3, 3), (None, 7, 7), (100, None, 101)]
)
def test_after_the_last_element_that_fits_the_count_goes_on(
    length: int | None, next_element: int | None, following: int
) -> None:
    answer = {**STREAM, "length": length, "next": next_element}
    assert Stream.read(Fields(answer, "stream")).following == following


def test_a_stream_has_the_texts_that_people_wrote_and_its_sentence() -> None:
    texts = {"title": "Hits", "unit": "hits", "tags": ["web"], "labels": {"1": "By phone"}}
    stream = Stream.read(Fields({**STREAM, **texts, "sentence": "Running totals."}, "stream"))
    assert (stream.wording.title, stream.wording.unit) == ("Hits", "hits")
    assert (stream.wording.tags, stream.sentence) == (("web",), "Running totals.")
    assert stream.wording.shown_labels == stream.wording.labels == texts["labels"]


@pytest.mark.parametrize("steps", [[], [1, 3], [2, 1], [1, 1]])
def test_totals_that_are_no_range_of_steps_are_refused(
    answers: dict[str, Any], steps: list[int]
) -> None:
    answer = answers["GET /api/v1/streams/hits/releases"]
    answer["items"] = [{**answer["items"][0], "t": t} for t in steps]
    with pytest.raises(ProtocolError, match="not consecutive steps"):
        RunningTotals.read(Fields(answer, "totals"))
