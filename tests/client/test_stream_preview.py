"""Test previews of streams, and the comparison of structures."""

import json
from typing import Any

import httpx
import pytest

from penstock_client import Client, InvalidArgument, ProtocolError


def test_a_preview_compares_structures(client: Client, requests: list[httpx.Request]) -> None:
    preview = client.preview_stream({"name": "more", "length": None})
    assert json.loads(requests[-1].content) == {"name": "more", "length": None}
    assert (preview.judged_steps, preview.noisiest_step, preview.refusal) == (250, 231, None)
    (tier,) = preview.tiers
    assert (tier.root_mean_square, tier.steps[0].t, tier.charge.share) == (9.44, 1, 0.0164)
    best, other = preview.structures
    assert (best.name, best.chosen, best.errors[0].charged_share) == ("kary", True, 0.0164)
    assert (other.request, other.errors[0].charged_share) == (None, None)
    laplace, gaussian = preview.noises
    assert (laplace.chosen, laplace.errors[0].charged_share) == (True, 0.0164)
    assert (gaussian.refusal, gaussian.errors) == ("Gaussian noise needs a delta above 0.", ())
    with pytest.raises(InvalidArgument):
        client.preview_stream({"name": object()})


@pytest.mark.parametrize("missing", ["structures", "judged_steps", "tiers"])
def test_an_answer_without_what_the_contract_states_is_refused(
    client: Client, answers: dict[str, Any], missing: str
) -> None:
    del answers["POST /api/v1/streams/preview"][missing]
    with pytest.raises(ProtocolError, match=missing):
        client.preview_stream({"name": "more"})
