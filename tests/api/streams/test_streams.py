"""Test streams over HTTP: opened, charged, pushed and read, on both databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.streams.clicks import API, CLICKS, HITS, push, read, totals
from tests.api.world import World, parsed


@pytest.fixture
def clicks(grow: Callable[..., World]) -> World:
    def fill(world: World, _: Path) -> None:
        world.answer("POST", f"{API}/datasets", CLICKS, by="root")

    return grow("clicks", fill)


def test_a_stream_is_opened_pushed_and_read_by_tier(clicks: World) -> None:
    opened = clicks.answer("POST", f"{API}/streams", HITS, by="root")
    assert (opened["next"], opened["asserted_by"]) == (1, "root")
    assert [tier["first"] for tier in opened["tiers"]] == [1, 1]
    pushed = push(clicks, 1, [1, 0, 1, 1])
    assert (pushed["first"], pushed["last"], pushed["next"]) == (1, 4, 5)
    ann, ian = read(clicks, "ann"), read(clicks, "ian")
    assert [item["t"] for item in ann["items"]] == [1, 2, 3, 4]
    assert (ann["tier"], ann["asserted_by"]) == ("public", "root")
    assert ann["guarantee"]["epsilon"] == pytest.approx(0.5, rel=0.01)
    assert ian["guarantee"]["epsilon"] == pytest.approx(1, rel=0.01)
    assert totals(ann) != totals(ian)
    assert totals(read(clicks, "ian", "?tier=public&from=2&to=3")) == totals(ann)[1:3]
    push(clicks, 5, [1])
    assert totals(read(clicks, "ann"))[:4] == totals(ann)
    assert totals(read(clicks, "ann", "?from=1&to=4")) == totals(ann)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "structure", ["binary", "kary", "smooth_binary", "auto", "sqrt", "buffered"]
)
def test_totals_are_as_far_off_as_they_say(clicks: World, structure: str, mechanism: str) -> None:
    if structure in ("sqrt", "buffered") and mechanism == "laplace":
        pytest.skip("has gaussian noise alone")
    terms = {"structure": structure, "mechanism": mechanism, "length": 60, "dimension": 1000}
    spread = {"levels": {"internal": {"epsilon": 4}}, "sensitivity": {"l1": 1}}
    clicks.answer("POST", f"{API}/streams", {**HITS, **terms, **spread}, by="root")
    push(clicks, 1, [[5] * 1000 for _ in range(60)])
    items = read(clicks, "ian")["items"]
    within = [
        abs(value - 5 * item["t"]) <= item["error"]["half_width"]
        for item in items
        for value in item["values"]
    ]
    # 60,000 totals, those of a step independent: 95% of each step's are expected.
    assert 0.90 < sum(within) / len(within) < 0.985
    scaled = [
        (value - 5 * item["t"]) / item["error"]["standard_deviation"]
        for item in items
        for value in item["values"]
    ]
    assert sum(one * one for one in scaled) / len(scaled) == pytest.approx(1, abs=0.25)


def test_an_element_out_of_turn_changes_nothing(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    push(clicks, 1, [1, 2])
    before = read(clicks, "ian")
    for first in (1, 2, 4, 0, -3, 10**18):
        problem = push(clicks, first, [7], status=409)
        assert (problem["code"], problem["next"]) == ("CONFLICT", 3)
        assert "3" in problem["detail"]
    assert totals(read(clicks, "ian")) == totals(before)
    assert clicks.answer("GET", f"{API}/streams/hits", by="ann")["next"] == 3


def test_a_repeat_under_one_key_is_taken_in_once(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    for _ in range(2):
        response = clicks.call(
            "POST",
            f"{API}/streams/hits/elements",
            {"from": 1, "values": [1]},
            by="root",
            headers={"Idempotency-Key": "once"},
        )
        assert (response.status_code, parsed(response)["next"]) == (200, 2)


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ([], "/values"),
        (3, "/values"),
        ([1, "2"], "/values/1"),
        ([1, True], "/values/1"),
        ([1, None], "/values/1"),
        ([0.5], "/values/0"),
        ([2**40], "/values/0"),
        ([[1]], "/values/0"),
        ([1] * 101, "/values"),
    ],
)
def test_elements_that_were_not_declared_are_refused(
    clicks: World, values: Any, pointer: str
) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    problem = push(clicks, 1, values, status=422)
    assert pointer in {one["pointer"] for one in problem["errors"]}
    assert clicks.answer("GET", f"{API}/streams/hits", by="root")["next"] == 1


def test_rows_have_the_dimension(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", {**HITS, "dimension": 2}, by="root")
    for values, pointer in (
        ([1], "/values/0"),
        ([[1, 2], [1]], "/values/1"),
        ([[1, 2], [1, 0.5]], "/values/1/1"),
    ):
        problem = push(clicks, 1, values, status=422)
        assert problem["errors"][0]["pointer"] == pointer
    push(clicks, 1, [[1, 2], [3, 4]])
    assert [len(values) for values in totals(read(clicks, "ann"))] == [2, 2]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"mechanism": "poisson"}, "/mechanism"),
        ({"structure": "heap"}, "/structure"),
        ({"structure": "sqrt"}, "/structure"),
        ({"structure": "sqrt", "mechanism": "gaussian", "length": None}, "/structure"),
        ({"structure": "sqrt", "mechanism": "gaussian", "length": 2**14 + 1}, "/length"),
        ({"structure": "sqrt", "mechanism": "gaussian", "dimension": 656}, "/dimension"),
        ({"structure": "binary", "k": 3}, "/k"),
        ({"structure": "smooth_binary", "length": None}, "/length"),
        ({"length": None}, "/k"),
        ({"k": 1}, "/k"),
        ({"length": 0}, "/length"),
        ({"dimension": 0}, "/dimension"),
        ({"step": 0.3}, "/step"),
        ({"bound": 0.5}, "/bound"),
        ({"sensitivity": {"l1": 1, "l2": 2}}, "/sensitivity/l2"),
        (
            {"levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 0.1}}},
            "/levels/internal",
        ),
        ({"levels": {"nobody": {"epsilon": 0.5}}}, "/levels/nobody"),
        ({"max_steps_per_unit": 0}, "/max_steps_per_unit"),
        ({"dataset": "sites"}, "/max_steps_per_unit"),
        ({"surprise": 1}, "/surprise"),
    ],
)
def test_a_stream_that_cannot_be_meant_is_refused(
    clicks: World, change: dict[str, Any], pointer: str
) -> None:
    response = clicks.call("POST", f"{API}/streams", {**HITS, **change}, by="root")
    assert response.status_code == 422, response.text
    assert pointer in {one["pointer"] for one in parsed(response)["errors"]}
    assert clicks.answer("GET", f"{API}/streams", by="root")["items"] == []


def test_ranges_that_are_not_there_are_refused(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    assert read(clicks, "ann", status=409)["code"] == "CONFLICT"
    push(clicks, 1, [1, 2, 3])
    for query, pointer in (
        ("?from=0", "/from"),
        ("?from=x", "/from"),
        ("?from=3&to=2", "/to"),
        ("?to=4", "/to"),
        ("?tier=nobody", "/tier"),
    ):
        problem = read(clicks, "ann", query, status=422)
        assert problem["errors"][0]["pointer"] == pointer
    assert read(clicks, "ann", "?tier=internal", status=403)["code"] == "CLEARANCE_TOO_LOW"


def test_a_stream_out_of_sight_is_not_found(clicks: World) -> None:
    hidden = {**HITS, "levels": {"internal": {"epsilon": 1}}}
    clicks.answer("POST", f"{API}/streams", hidden, by="root")
    push(clicks, 1, [1])
    read(clicks, "ann", status=404)
    assert clicks.call("GET", f"{API}/streams/hits", by="ann").status_code == 404
    assert clicks.answer("GET", f"{API}/streams", by="ann")["items"] == []
    assert clicks.call("GET", f"{API}/queries/hits", by="root").status_code == 404
    assert "hits" not in str(clicks.answer("GET", f"{API}/queries", by="root"))
    clicks.answer("PATCH", f"{API}/users/ann", {"clearance": "internal"}, by="root")
    assert len(read(clicks, "ann")["items"]) == 1


def test_a_stream_is_charged_for_all_the_steps_of_a_unit(world: World) -> None:
    """Of eight steps the worst four are in 4, 3, 3 and 3 nodes, the worst three in 1, 2 and 3."""
    terms = {"dataset": "sites", "structure": "binary", "length": 8}
    one = {**HITS, **terms, "max_steps_per_unit": 1, "levels": {"internal": {"level": 16}}}
    single = world.answer("POST", f"{API}/streams", one, by="root")
    four = {**one, "name": "four", "max_steps_per_unit": 4}
    several = world.answer("POST", f"{API}/streams", four, by="root")
    epsilons = [view["tiers"][-1]["guarantee"]["epsilon"] for view in (single, several)]
    assert epsilons == pytest.approx([4 / 16, 13 / 16], rel=0.01)
    gaussian = {
        **one,
        "name": "g",
        "mechanism": "gaussian",
        "max_steps_per_unit": 3,
        "levels": {"internal": {"level": 64}},
    }
    shown = world.answer("POST", f"{API}/streams", gaussian, by="root")
    assert shown["tiers"][-1]["guarantee"]["rho"] == pytest.approx(24 / 128, rel=0.01)
    spent = world.answer("GET", f"{API}/datasets/sites/budget", by="root")["tiers"][-1]
    assert {"hits", "four", "g", "visits", "secret"} == {one["query"] for one in spent["queries"]}


def test_over_budget_nothing_is_opened(clicks: World) -> None:
    heavy = {**HITS, "levels": {"public": {"epsilon": 50}}}
    response = clicks.call("POST", f"{API}/streams", heavy, by="root")
    problem = parsed(response)
    assert (response.status_code, problem["code"]) == (409, "BUDGET_EXHAUSTED")
    assert problem["largest_share"] > 0
    assert clicks.answer("GET", f"{API}/streams", by="root")["items"] == []
    assert clicks.call("POST", f"{API}/streams", HITS, by="root").status_code == 201


def test_events_and_units_are_not_mixed(clicks: World) -> None:
    query = {
        "name": "vector",
        "dataset": "clicks",
        "values": [1],
        "sensitivity": {"l1": 1},
        "mechanism": "laplace",
        "levels": {"public": {"epsilon": 0.1}},
    }
    response = clicks.call("POST", f"{API}/queries", query, by="root")
    assert (response.status_code, parsed(response)["errors"][0]["pointer"]) == (422, "/dataset")


def test_names_are_shared_with_queries(clicks: World) -> None:
    named = {**HITS, "name": "VISITS"}
    assert clicks.call("POST", f"{API}/streams", named, by="root").status_code == 409
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    assert clicks.call("POST", f"{API}/streams", HITS, by="root").status_code == 409


def test_every_answered_range_is_a_leaf_and_counts_in_exposure(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    push(clicks, 1, [1, 2, 3])
    path = f"{API}/audit/exposure?users=ann&dataset=clicks"
    assert clicks.answer("GET", path, by="olga")["released"]["epsilon"] == 0
    for query in ("", "?from=2&to=2", "?from=2&to=2"):
        read(clicks, "ann", query)
    leaves = clicks.answer("GET", f"{API}/audit/events?kind=stream", by="olga")["items"]
    assert [(leaf["first"], leaf["last"]) for leaf in leaves] == [(1, 3), (2, 2), (2, 2)]
    assert {leaf["user"] for leaf in leaves} == {"ann"}
    assert leaves[1]["value_hmac"] == leaves[2]["value_hmac"] != leaves[0]["value_hmac"]
    shown = clicks.answer("GET", path, by="olga")
    assert [one["query"] for one in shown["queries"]] == ["hits"]
    assert shown["released"]["epsilon"] == pytest.approx(0.5, rel=0.01)
    assert shown["could_be"]["epsilon"] == pytest.approx(0.5, rel=0.01)
    assert clicks.answer("GET", f"{API}/releases?user=ann", by="olga")["items"][-1]["query"] == (
        "visits"
    )


def test_a_stream_without_an_end_goes_on(clicks: World) -> None:
    endless = {**HITS, "structure": "binary", "length": None}
    opened = clicks.answer("POST", f"{API}/streams", endless, by="root")
    assert opened["length"] is None
    for first in range(1, 40, 13):
        push(clicks, first, [1] * 13)
    items = read(clicks, "ian")["items"]
    assert len(items) == 39
    deviations = [item["error"]["standard_deviation"] for item in items]
    assert deviations[0] < deviations[38]
    noisy = {**endless, "name": "noisy", "levels": {"public": {"level": 2.0**45}}}
    response = clicks.call("POST", f"{API}/streams", noisy, by="root")
    assert response.status_code == 422


def test_a_long_range_is_whole_in_every_part(
    clicks: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    push(clicks, 1, [1] * 10)
    whole = read(clicks, "ann")["items"]
    monkeypatch.setattr("penstock.http.answers.PART", 3)
    assert read(clicks, "ann")["items"] == whole
    monkeypatch.setattr("penstock.services.streams.stream_totals.MOST_NUMBERS", 9)
    problem = read(clicks, "ann", status=422)
    assert (problem["errors"][0]["pointer"], "10 numbers" in problem["detail"]) == ("/to", True)
    assert read(clicks, "ann", "?to=9")["items"] == whole[:9]


def test_a_full_stream_takes_no_more(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", {**HITS, "length": 3}, by="root")
    assert push(clicks, 1, [1, 1, 1])["next"] is None
    problem = push(clicks, 4, [1], status=409)
    assert problem["next"] is None


def test_a_server_that_starts_again_goes_on_with_the_same_noise(clicks: World) -> None:
    clicks.answer("POST", f"{API}/streams", HITS, by="root")
    push(clicks, 1, [1, 0, 1, 1, 5])
    before = read(clicks, "ian")
    clicks.server.database.close()
    push(clicks, 6, [1])
    assert totals(read(clicks, "ian"))[:5] == totals(before)
