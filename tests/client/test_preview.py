"""Test previews of queries, in the library and the program."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.servers.previews import ANSWER, INDEPENDENT, MOMENTS, PATH, QUANTILES

from penstock_client import Client, InvalidArgument, ProtocolError
from penstock_client._show import documents

SPEC = {"name": "visits", "dataset": "sites", "keys": ["a", "b"], "share": 0.1}


@pytest.fixture(autouse=True)
def _previews(answers: dict[str, Any]) -> None:
    answers[PATH] = json.loads(json.dumps(ANSWER))


def test_a_spec_goes_as_it_stands_and_a_name_as_a_query(
    client: Client, requests: list[httpx.Request]
) -> None:
    preview = client.preview(SPEC)
    assert json.loads(requests[-1].content) == SPEC
    (tier,) = preview.tiers
    assert (tier.charge.loss, tier.charge.order, tier.error.half_width) == (0.0087, 22, 71.2)
    assert tier.room is not None
    assert not tier.room.fits
    assert preview.refusal is not None
    assert (preview.sensitivity["linf"], preview.dimension) == (1, 2)
    client.preview("visits")
    assert json.loads(requests[-1].content) == {"query": "visits"}


def test_what_is_paid_has_no_room(client: Client, answers: dict[str, Any]) -> None:
    answers[PATH]["tiers"][0]["room"] = None
    answers[PATH]["refusal"] = None
    preview = client.preview("visits")
    assert (preview.tiers[0].room, preview.refusal) == (None, None)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"a", object()])
def test_a_spec_that_is_no_json_is_not_sent(
    client: Client, requests: list[httpx.Request], value: object
) -> None:
    with pytest.raises(InvalidArgument, match="what JSON has"):
        client.preview({**SPEC, "share": value})
    assert requests == []


@pytest.mark.parametrize("missing", ["tiers", "dimension", "sensitivity"])
def test_an_answer_without_what_the_contract_states_is_refused(
    client: Client, answers: dict[str, Any], missing: str
) -> None:
    del answers[PATH][missing]
    with pytest.raises(ProtocolError, match=missing):
        client.preview("visits")


def test_the_program_takes_a_name_or_a_file(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    requests: list[httpx.Request],
    tmp_path: Path,
) -> None:
    assert run("preview", "visits") == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "visits"
    assert shown.out.splitlines()[-1].split()[-4:] == ["1.64%", "1%", "1%", "no"]
    assert shown.err == f"{ANSWER['refusal']}\n"
    for name, text in (("spec.json", json.dumps({"share": 0.1})), ("spec.toml", "share = 0.1")):
        (tmp_path / name).write_text(text)
        assert run("--format", "json", "preview", "--file", str(tmp_path / name)) == 0
        assert json.loads(capsys.readouterr().out) == ANSWER
        assert json.loads(requests[-1].content) == {"share": 0.1}
    assert run("--format", "csv", "preview", "visits") == 0
    assert "0.0087" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [(), ("visits", "--file", "spec.json"), ("--file", "missing.json"), ("--file", "list.json")],
)
def test_what_is_neither_or_cannot_be_read_is_a_usage_error(
    run: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.json").write_text("[]")
    assert run("preview", *arguments) == 2


def test_a_preview_tells_what_adds_up_and_which_power_is_recommended(
    client: Client, answers: dict[str, Any]
) -> None:
    answers[PATH] = INDEPENDENT
    preview = client.preview("visits")
    (tier,) = preview.tiers
    assert tier.composed is not None
    assert (tier.composed.levels, tier.composed.epsilon) == ((73.1, 138.6), 1.117)
    assert tier.expected_maximum == 91.3
    assert tier.epsilon_at_delta == 1.63
    assert preview.powers is not None
    assert preview.powers.recommended == 2
    assert preview.powers.choices == {1.0: 156.1, 2.0: 87.7}


STRATEGIES: list[dict[str, Any]] = [
    {
        "strategy": name,
        "requested": name is None,
        "dimension": 84,
        "tiers": [
            {
                "tier": "public",
                "largest": {"standard_deviation": 5.0, "confidence": 0.95, "half_width": 9.8},
                "mean_deviation": 3.7,
            }
        ],
    }
    for name in (None, "tree")
]


def test_strategies_of_a_workload_are_compared(client: Client, answers: dict[str, Any]) -> None:
    assert client.preview("visits").strategies == ()
    answers[PATH]["strategies"] = STRATEGIES
    preview = client.preview("visits")
    own, tree = preview.strategies
    assert (own.name, own.requested, tree.name, tree.dimension) == (None, True, "tree", 84)
    (tier,) = tree.tiers
    assert (tier.tier, tier.half_width, tier.standard_deviation) == ("public", 9.8, 5.0)
    facts = documents.preview(preview).facts
    assert "    tree: ±9.8 (3.7) at public" in facts
    assert any("that of the query" in line and "as requested" in line for line in facts)


def test_a_preview_of_quantiles_has_the_errors_of_their_ranks(
    client: Client,
    answers: dict[str, Any],
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers[PATH] = QUANTILES
    (tier,) = client.preview("visits").tiers
    assert [(rank.probability, rank.error.half_width) for rank in tier.ranks] == [(0.5, 23.1)]
    assert run("preview", "visits") == 0
    assert "  ranks of quantiles at public: 0.5 ±23.1 rows at 95%" in capsys.readouterr().out
    answers[PATH] = ANSWER
    assert client.preview("visits").tiers[0].ranks == ()


def test_a_preview_of_moments_says_how_noisy_estimates_would_be(
    client: Client,
    answers: dict[str, Any],
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers[PATH] = MOMENTS
    (tier,) = client.preview("visits").tiers
    assert tier.expected is not None
    assert tier.expected.estimates == {"n": 36.3, "variance:age": None}
    assert tier.expected.weights == {"n": 5, "sum:age": 8}
    assert run("preview", "visits") == 0
    shown = capsys.readouterr().out
    assert (
        "  standard deviations at public, from 1,000 evenly spread rows of a group: n 36.3" in shown
    )
    assert "    with weights, by which noise is divided: n 5, sum:age 8" in shown
    answers[PATH] = ANSWER
    assert client.preview("visits").tiers[0].expected is None
