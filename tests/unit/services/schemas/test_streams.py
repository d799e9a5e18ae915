"""Test requests for streams.

Which structures go with which noise, and elements as they are sent.
"""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from tests.unit.services.streams.streaming import CLICKS

from penstock.services.schemas.streams import ElementsRequest, StreamRequest, Totals
from penstock.services.schemas.views import ErrorView


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"k": 3}, "is allowed only with structure kary"),
        ({"structure": "smooth_binary", "length": None}, "needs a length"),
        ({"structure": "sqrt"}, "needs gaussian noise and a length"),
        ({"structure": "kary", "length": None}, "the best k is unknown"),
        ({"mechanism": "poisson"}, "gaussian"),
    ],
)
def test_structures_that_cannot_be_had_are_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        StreamRequest.model_validate({**CLICKS, **changes})


def test_elements_are_taken_as_they_were_sent_and_shown_nowhere() -> None:
    sent = ElementsRequest.model_validate({"from": 4, "values": [1, "x", None]})
    assert (sent.first, sent.values) == (4, [1, "x", None])
    assert "x" not in repr(sent)
    with pytest.raises(ValidationError, match="must be a list"):
        ElementsRequest.model_validate({"from": 1, "values": "1"})


def test_totals_are_read_by_place_and_by_range() -> None:
    errors = [ErrorView(float(step), 0.95, 1.0) for step in (4, 5, 6)]
    totals = Totals(4, np.array([[1.0], [2.0], [3.0]]), errors)
    assert len(totals) == 3
    assert (totals[1].t, totals[1].values.tolist()) == (5, [2.0])
    assert [item.t for item in totals[1:]] == [5, 6]
    with pytest.raises(IndexError):
        totals[3]
