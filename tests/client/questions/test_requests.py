"""Test requests as a server answers them."""

import pytest
from tests.client.questions.asking import OPEN

from penstock_client import ProtocolError, Request
from penstock_client._http.fields import Fields


def test_a_request_has_its_state_and_once_it_is_approved_its_query() -> None:
    request = Request.read(Fields(OPEN, "request"))
    assert (request.id, request.state, request.query, request.purpose) == (
        "req_1", "open", None, "a report",
    )  # fmt: skip
    (comment,) = request.comments
    assert (comment.by, comment.text, comment.at.hour) == ("ada", "By town\nalone?", 8)
    approved = Request.read(Fields({**OPEN, "state": "approved", "query": "mine"}, "request"))
    assert approved.query == "mine"


@pytest.mark.parametrize("missing", ["state", "name"])
def test_an_answer_without_what_the_contract_states_is_refused(missing: str) -> None:
    answer = {name: value for name, value in OPEN.items() if name != missing}
    with pytest.raises(ProtocolError, match=missing):
        Request.read(Fields(answer, "request"))
