"""Test that answers are counted by route, class of status and duration, by all workers together."""

from collections.abc import Callable

import pytest
from tests.api.http.counting.monitoring import ASK, TOKEN, Sample, read
from tests.api.world import World

from penstock.http.counting import request_counts

RELEASES = "/api/v1/queries/<query>/releases"


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    return open_copy(metrics_token=TOKEN)


def requests(samples: dict[Sample, float], verb: str, route: str, status: str) -> float:
    labels = (("route", route), ("status", status), ("verb", verb))
    return samples["penstock_requests_total", labels]


def test_answers_are_counted_by_route_and_class_of_status(world: World) -> None:
    world.call("POST", ASK.format("visits"), {}, by="ann")
    world.call("POST", ASK.format("visits"), {}, by="ian")
    world.call("POST", ASK.format("absent"), {}, by="ann")
    world.call("GET", "/nothing")
    world.call("BREW", "/api/v1/me")
    world.call("HEAD", "/healthz")
    found = read(world)
    assert requests(found, "POST", RELEASES, "2xx") == 2
    assert requests(found, "POST", RELEASES, "4xx") == 1
    assert requests(found, "other", "other", "4xx") == 2
    assert requests(found, "GET", "/healthz", "2xx") == 1
    assert sum(v for (name, _), v in found.items() if name == "penstock_requests_total") == 6
    assert requests(read(world), "GET", "/metrics", "2xx") == 1


def test_durations_fall_into_buckets_and_have_no_sum(world: World) -> None:
    world.call("POST", ASK.format("visits"), {}, by="ian")
    labels = (("route", RELEASES), ("status", "2xx"), ("verb", "POST"))
    found = read(world)
    for edge in ("0.05", "0.1", "30.0", "+Inf"):
        assert found["penstock_request_seconds_bucket", (("le", edge), *labels)] == 1
    assert not [name for name, _ in found if name.endswith("_sum")]


def test_every_route_is_counted_by_its_template_and_no_other(world: World) -> None:
    """The list is closed: nothing that comes in becomes a label."""
    app = world.client.application
    served = {
        (verb, rule.rule)
        for rule in app.url_map.iter_rules()
        for verb in (rule.methods or set()) - {"HEAD"}
    }
    shown = {
        (dict(labels)["verb"], dict(labels)["route"])
        for name, labels in read(world)
        if name == "penstock_requests_total"
    }
    assert shown == served | {request_counts.OTHER}


def test_edges_do_not_tell_what_the_time_quantum_hides() -> None:
    assert request_counts.edges(0.025)[0] == 0.05
    assert request_counts.edges(0.2)[0] == 0.5
    assert request_counts.edges(10.0) == (30.0,)
