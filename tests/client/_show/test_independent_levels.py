"""Queries whose levels are draws of their own, as the client reads and shows them."""

import copy
import functools
from typing import Any

import httpx
import pytest
from tests.client.previews import ANSWER, PATH, Handler

from penstock_client import Client, command

EXPOSURE = "GET /api/v1/audit/exposure"
COMPOSED = {"levels": [73.1, 138.6], "epsilon": 1.117, "delta": 1e-6}
POWERS = {
    "tier": "public",
    "epsilon": 1.0,
    "recommended": 2.0,
    "reason": "The tiers have 2 levels.",
    "choices": [{"p": 1.0, "expected_maximum": 156.1}, {"p": 2.0, "expected_maximum": 87.7}],
}


@pytest.fixture(autouse=True)
def _independent(answers: dict[str, Any]) -> None:
    found = copy.deepcopy(ANSWER)
    found["powers"] = POWERS
    found["tiers"][0].update(composed=COMPOSED, expected_maximum=91.3)
    answers[PATH] = found


def test_a_preview_tells_what_adds_up_and_which_power_is_recommended(client: Client) -> None:
    found = client.preview("visits")
    (tier,) = found.tiers
    assert tier.composed is not None
    assert (tier.composed.levels, tier.composed.epsilon) == ((73.1, 138.6), 1.117)
    assert tier.expected_maximum == 91.3
    assert found.powers is not None
    assert found.powers.recommended == 2
    assert found.powers.choices == {1.0: 156.1, 2.0: 87.7}


def test_a_query_says_whether_its_levels_are_lossless(
    client: Client, answers: dict[str, Any]
) -> None:
    (name,) = (each for each in answers if each == "GET /api/v1/queries")
    before = client.queries()
    assert all(one.lossless and one.p is None for one in before)
    item = answers[name]["items"][0]
    item.update(p=3.0, lossless=False)
    item["tiers"][0]["composed"] = COMPOSED
    query = client.queries()[0]
    assert (query.p, query.lossless) == (3, False)
    assert query.tiers[0].composed is not None


def test_an_exposure_lists_every_level_that_is_held(
    client: Client, answers: dict[str, Any]
) -> None:
    answers[EXPOSURE]["queries"][0]["composed"] = COMPOSED
    found = client.exposure(["ann"]).queries[0]
    assert found.composed is not None
    assert found.composed.levels == (73.1, 138.6)


def test_the_command_shows_what_adds_up(
    monkeypatch: pytest.MonkeyPatch, server: Handler, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PENSTOCK_TOKEN", token)
    transport = httpx.MockTransport(server)
    monkeypatch.setattr(command, "Client", functools.partial(Client, transport=transport))
    assert command.run(("preview", "visits")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "  The tiers have 2 levels."
    assert lines[-2].endswith("composed epsilon  expected maximum")
    assert lines[-1].endswith("91.3")
    assert "1.12" in lines[-1]
