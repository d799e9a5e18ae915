"""Test previews of streams: what opening settles, beside what other structures would do."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.api.streams.clicks import API, CLICKS, HITS
from tests.api.world import World, parsed

PREVIEW = f"{API}/streams/preview"
STREAMS: dict[str, dict[str, Any]] = {
    "given levels": HITS,
    "a share": {**HITS, "levels": None, "share": 0.2, "structure": "auto"},
    "gaussian": {**HITS, "mechanism": "gaussian", "structure": "smooth_binary"},
    "a square root": {
        **HITS,
        "mechanism": "gaussian",
        "structure": "sqrt",
        "dimension": 2,
        "max_steps_per_unit": 3,
    },
    "buffers": {
        **HITS,
        "mechanism": "gaussian",
        "structure": "buffered",
        "dimension": 2,
        "max_steps_per_unit": 3,
    },
    "an arity": {**HITS, "mechanism": "gaussian", "k": 5, "length": 300},
    "wide": {**HITS, "dimension": 3, "max_steps_per_unit": 4, "sensitivity": {"l1": 2, "l2": 1.5}},
    "no end": {**HITS, "length": None, "k": 3, "mechanism": "gaussian"},
}


@pytest.fixture
def clicks(grow: Callable[..., World]) -> World:
    def fill(world: World, _: Path) -> None:
        for dataset in (CLICKS, {**CLICKS, "name": "pure", "delta": 0}):
            world.answer("POST", f"{API}/datasets", dataset, by="root")

    return grow("clicks-and-pure", fill)


def spec(name: str) -> dict[str, Any]:
    return {field: part for field, part in STREAMS[name].items() if part is not None} | (
        {"length": STREAMS[name]["length"]}
    )


def ask(world: World, body: Mapping[str, Any], by: str = "root") -> Any:
    return world.answer("POST", PREVIEW, body, by=by)


def chosen(found: Any) -> Any:
    (one,) = [each for each in found["structures"] if each["chosen"]]
    return one


@pytest.mark.parametrize("name", STREAMS)
def test_a_preview_is_what_opening_settles(clicks: World, name: str) -> None:
    body = spec(name)
    found = ask(clicks, body)
    assert clicks.answer("GET", f"{API}/streams", by="root")["items"] == []
    spent = clicks.answer("GET", f"{API}/datasets/clicks/budget", by="root")
    assert all(tier["spent"]["epsilon"] == 0 for tier in spent["tiers"])
    opened = clicks.answer("POST", f"{API}/streams", body, by="root")
    for field in ("structure", "sensitivity", "granularity", "length", "max_steps_per_unit"):
        assert found[field] == opened[field], field
    assert (found["stream"], found["refusal"]) == (opened["name"], None)
    for told, made in zip(found["tiers"], opened["tiers"], strict=True):
        assert [told[field] for field in ("tier", "level", "guarantee")] == [
            made[field] for field in ("tier", "level", "guarantee")
        ]
        assert told["steps"][0] == {"t": 1, "error": made["error"]}
    spent = clicks.answer("GET", f"{API}/datasets/clicks/budget", by="root")
    for tier, told in zip(spent["tiers"], found["tiers"], strict=True):
        assert tier["queries"][0]["share"] == told["charge"]["share"]


@pytest.mark.parametrize("name", [name for name in STREAMS if name != "no end"])
def test_errors_are_those_that_totals_come_with(clicks: World, name: str) -> None:
    body = spec(name)
    found = ask(clicks, body)
    clicks.answer("POST", f"{API}/streams", body, by="root")
    steps = body["length"]
    row: Any = [0] * body["dimension"] if "dimension" in body else 0
    sent = {"from": 1, "values": [row] * steps}
    clicks.answer("POST", f"{API}/streams/hits/elements", sent, by="root")
    for tier in found["tiers"]:
        by = "ann" if tier["tier"] == "public" else "ian"
        items = clicks.answer("GET", f"{API}/streams/hits/releases", by=by)["items"]
        deviations = [item["error"]["standard_deviation"] for item in items]
        mean = (sum(one * one for one in deviations) / steps) ** 0.5
        assert tier["root_mean_square"] == pytest.approx(mean, rel=1e-6)
        assert tier["error"]["standard_deviation"] == pytest.approx(max(deviations))
        assert tier["error"] == items[found["noisiest_step"] - 1]["error"]
        for one in tier["steps"]:
            assert one["error"] == items[one["t"] - 1]["error"]
        own = next(one for one in chosen(found)["errors"] if one["tier"] == tier["tier"])
        assert own["root_mean_square"] == pytest.approx(mean, rel=1e-6)
        assert own["largest"] == pytest.approx(max(deviations), rel=1e-6)
        assert own["charged_share"] == tier["charge"]["share"]


def requests(found: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    for one in found["structures"]:
        if one["request"] is not None:
            yield one, one["request"]


@pytest.mark.parametrize(
    ("mechanism", "dataset"), [("laplace", "clicks"), ("laplace", "pure"), ("gaussian", "clicks")]
)
def test_each_structure_is_what_asking_for_it_gives(
    clicks: World, mechanism: str, dataset: str
) -> None:
    body = {**HITS, "mechanism": mechanism, "dataset": dataset, "structure": "auto", "length": 250}
    found = ask(clicks, body)
    kinds = [one["structure"] for one in found["structures"]]
    assert set(kinds) >= {"binary", "kary", "smooth_binary", "square_root", "epochs"}
    assert ("buffered" in kinds) == (mechanism == "gaussian")
    marks = [one["least_mean"] for one in found["structures"]]
    assert marks[0]
    assert sum(one["least_largest"] for one in found["structures"]) >= 1
    apart = 0
    for one, request in requests(found):
        again = ask(clicks, {**body, **request})
        own = chosen(again)
        assert (own["structure"], own["settings"]) == (one["structure"], one["settings"])
        for here, there in zip(one["errors"], own["errors"], strict=True):
            if request.get("length", 250) is None:
                continue
            # Levels are on a ladder, one rung of which is less than a part in a thousand.
            assert there["root_mean_square"] == pytest.approx(here["root_mean_square"], rel=2e-3)
            assert there["largest"] == pytest.approx(here["largest"], rel=2e-3)
            assert there["charged_share"] == pytest.approx(here["charged_share"], rel=5e-3)
        apart += own["errors"] != chosen(found)["errors"]
    assert apart > 2


@pytest.mark.parametrize("dataset", ["clicks", "pure"])
def test_both_noises_are_what_asking_for_them_gives(clicks: World, dataset: str) -> None:
    """Gaussian noise has no place where delta is 0, and says so."""
    body = {**HITS, "dataset": dataset, "structure": "auto", "length": 250}
    found = ask(clicks, {**body, "mechanism": "laplace"})
    other, own, *adding = found["noises"]
    assert (own["mechanism"], own["chosen"]) == ("laplace", True)
    assert (other["mechanism"], other["chosen"]) == ("gaussian", False)
    assert own["structure"] == found["structure"]
    if dataset == "pure":
        refused = clicks.call("POST", PREVIEW, {**body, "mechanism": "gaussian"}, by="root")
        assert (other["refusal"], other["errors"]) == (parsed(refused)["errors"][0]["detail"], [])
        return
    again = ask(clicks, {**body, "mechanism": "gaussian"})
    mirrored = [{**each, "chosen": not each["chosen"]} for each in (other, own)]
    assert again["noises"] == [*mirrored, *adding]
    binary = ask(clicks, {**body, "mechanism": "gaussian", "structure": "binary"})
    assert binary["noises"] == [*mirrored, *adding]
    levels = {"public": {"level": 400}, "internal": {"level": 100}}
    alone = ask(clicks, {**body, "mechanism": "gaussian", "levels": levels})["noises"]
    assert (alone[0]["refusal"], alone[1]["errors"]) == (None, [])
    assert "a variance of Gaussian noise and a scale" in alone[1]["refusal"]
    for noise, preview in ((own, found), (other, again)):
        for error, tier in zip(noise["errors"], preview["tiers"], strict=True):
            assert error["charged_share"] == tier["charge"]["share"]
            assert error["root_mean_square"] == tier["root_mean_square"]


def test_analysts_are_told_of_tiers_up_to_their_own(clicks: World) -> None:
    both, internal = spec("a share"), {**HITS, "levels": {"internal": {"epsilon": 1}}}
    root, ann = ask(clicks, both), ask(clicks, both, by="ann")
    assert [tier["tier"] for tier in root["tiers"]] == ["public", "internal"]
    assert [tier["tier"] for tier in ann["tiers"]] == ["public"]
    assert {error["tier"] for one in ann["structures"] for error in one["errors"]} == {"public"}
    assert "internal" not in str(ann)
    # A name that is out of sight is free to them.
    clicks.answer("POST", f"{API}/streams", internal, by="root")
    assert ask(clicks, both, by="ann") == ann
    taken = clicks.call("POST", PREVIEW, both, by="ian")
    assert (taken.status_code, parsed(taken)["code"]) == (409, "NAME_TAKEN")


def test_want_of_budget_is_said_as_opening_says_it(clicks: World) -> None:
    heavy = {**HITS, "levels": {"public": {"epsilon": 50}}}
    found = ask(clicks, heavy)
    refused = clicks.call("POST", f"{API}/streams", heavy, by="root")
    assert parsed(refused)["code"] == "BUDGET_EXHAUSTED"
    assert found["refusal"] == parsed(refused)["detail"]
    assert found["tiers"][0]["room"]["fits"] is False


@pytest.mark.parametrize(
    "broken",
    [
        {"length": 0},
        {"levels": {"moon": {"epsilon": 1}}},
        {"dataset": "moon"},
        {"structure": "binary", "k": 3},
        {"levels": {"public": {"epsilon": 1}, "internal": {"epsilon": 0.5}}},
    ],
)
def test_a_preview_refuses_what_opening_refuses_in_the_same_words(
    clicks: World, broken: dict[str, Any]
) -> None:
    answers = [
        clicks.call("POST", path, {**HITS, **broken}, by="root")
        for path in (PREVIEW, f"{API}/streams")
    ]
    previewed, opened = (
        {**parsed(answer), "request_id": None, "instance": None} for answer in answers
    )
    assert answers[0].status_code >= 400
    assert previewed == opened


def test_a_stream_without_an_end_is_judged_over_a_million_steps(clicks: World) -> None:
    found = ask(clicks, spec("no end"))
    assert (found["length"], found["judged_steps"]) == (None, 2**20)
    assert {one["structure"] for one in found["structures"]} == {"epochs", "buffered"}
    assert found["tiers"][0]["steps"][-1]["t"] == 2**20
    assert chosen(found)["settings"]["arity"] == 3
    auto = ask(clicks, {**HITS, "length": None, "mechanism": "gaussian", "structure": "auto"})
    assert auto["structure"] == {"kind": "buffered", "buffers": 14}
    best = chosen(auto)
    assert (best["least_mean"], best["least_largest"], best["kept"]) == (True, True, 30)
    assert best["request"] == {"structure": "buffered"}
