"""Test paths, fields and statuses that other people's scripts rely on."""

from typing import Any

from tests.api.world import DATASET, QUERY, World

from penstock.api.routes import audit
from penstock.transparency_log.leaves import KINDS

ASK = "/api/v1/queries/visits/releases"


def test_a_release_has_every_field_of_the_contract(world: World) -> None:
    release = world.answer("POST", ASK, {}, by="ann")
    assert release == {
        "id": release["id"],
        "query": "visits",
        "dataset": "sites",
        "tier": "public",
        "mechanism": "gaussian",
        "level": {"parameter": "variance", "value": release["level"]["value"]},
        "guarantee": release["guarantee"],
        "granularity": release["granularity"],
        "keys": ["a", "b"],
        "values": release["values"],
        "error": release["error"],
        "asserted_by": "root",
        "released_at": "2026-11-20T11:00:00Z",
        "receipt": release["receipt"],
        "mean": None,
        "errors": None,
        "histogram": None,
        "moments": None,
        "estimates": None,
        "quantiles": None,
        "distributions": None,
        "marginals": None,
        "report": None,
        "part": None,
        "covariance": None,
        "answers_covariance": None,
        "size": None,
    }
    assert set(release["guarantee"]) == {
        *("definition", "epsilon", "delta", "rho", "mu", "pure_epsilon")
    }
    assert set(release["error"]) == {"standard_deviation", "confidence", "half_width"}
    assert set(release["receipt"]) == {"index", "leaf_hash", "leaf", "checkpoint"}
    assert release["receipt"]["checkpoint"].startswith("penstock/")
    assert all(isinstance(value, float) for value in release["values"])


def test_a_repeat_is_the_same_answer(world: World) -> None:
    assert world.answer("POST", ASK, {}, by="ann") == world.answer("POST", ASK, {}, by="ann")


def test_two_readers_at_one_level_get_one_vector(world: World) -> None:
    ann = world.answer("POST", ASK, {}, by="ann")
    ian = world.answer("POST", ASK, {"tier": "public"}, by="ian")
    assert (ian["id"], ian["values"]) == (ann["id"], ann["values"])


def test_the_level_of_a_release_can_be_named_in_four_ways(world: World) -> None:
    own = world.answer("POST", ASK, {"tier": "internal"}, by="ian")
    for wanted in ({"epsilon": 0.2}, {"rho": 0.001}, {"level": 1e6}):
        answer = world.answer("POST", ASK, wanted, by="ian")
        assert answer["level"]["value"] > own["level"]["value"]
        assert set(answer) == set(own)


def test_promotion_acts_at_once_on_tokens_already_issued(world: World) -> None:
    before = world.answer("POST", ASK, {}, by="ann")
    changed = world.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    assert changed["clearance"] == "internal"
    after = world.answer("POST", ASK, {}, by="ann")
    assert after["level"]["value"] < before["level"]["value"]
    assert world.answer("GET", "/api/v1/me", by="ann")["clearance"] == "internal"


def test_demotion_acts_at_once_and_leaves_what_was_handed_out(world: World) -> None:
    held = world.answer("POST", ASK, {}, by="ian")
    world.answer("PATCH", "/api/v1/users/ian", {"clearance": "public"}, by="root")
    assert world.call("POST", ASK, {"tier": "internal"}, by="ian").status_code == 403
    again = world.answer("GET", f"/api/v1/releases/{held['id']}/values", by="ian")
    assert again["values"] == held["values"]


def test_a_token_is_shown_where_it_is_issued_and_nowhere_else(world: World) -> None:
    issued = world.answer("POST", "/api/v1/users/ann/tokens", {"expires_in": 60}, by="root")
    assert set(issued) == {"token", "prefix", "user", "scopes", "expires", "parent"}
    assert issued["expires"] == "2026-11-20T12:01:00Z"
    listed = world.call("GET", "/api/v1/users/ann/tokens", by="root").text
    assert issued["prefix"] in listed
    assert issued["token"].split("_", 2)[2] not in listed


def test_creations_answer_what_was_created(world: World) -> None:
    tier = world.answer("POST", "/api/v1/tiers", {"name": "partner", "above": "public"}, by="root")
    assert tier == {"name": "partner", "rank": 20, "description": ""}
    user = world.answer(
        "POST", "/api/v1/users", {"name": "Zoë", "roles": ["analyst"], "clearance": "partner"},
        by="root",
    )  # fmt: skip
    assert (user["name"], user["clearance"], user["active"]) == ("Zoë", "partner", True)
    wanda = {"name": "Wanda", "roles": ["auditor", "analyst"]}
    several = world.answer("POST", "/api/v1/users/import", {"users": [wanda]}, by="root")
    listed = {"name": "Wanda", "roles": ["analyst", "auditor"], "clearance": None}
    assert several == {"dry_run": False, "users": [listed]}
    dataset = world.answer("POST", "/api/v1/datasets", {**DATASET, "name": "more"}, by="root")
    assert set(dataset["budgets"]) == {"public", "partner", "internal"}
    query = world.answer(
        "POST", "/api/v1/queries", {**QUERY, "name": "calls", "dataset": "more"}, by="root"
    )
    assert [tier["tier"] for tier in query["tiers"]] == ["public", "partner", "internal"]
    assert "values" not in query["spec"]


def test_analysts_see_nothing_of_the_tiers_above_theirs(world: World) -> None:
    dataset = world.answer("GET", "/api/v1/datasets/sites", by="ann")
    assert set(dataset["budgets"]) == {"public"}
    query = world.answer("GET", "/api/v1/queries/visits", by="ann")
    assert [tier["tier"] for tier in query["tiers"]] == ["public"]
    assert "internal" not in world.call("GET", "/api/v1/queries/visits", by="ann").text
    budget = world.answer("GET", "/api/v1/datasets/sites/budget", by="ann")
    assert [tier["tier"] for tier in budget["tiers"]] == ["public"]
    listed = world.answer("GET", "/api/v1/queries", by="ann")["items"]
    assert [query["name"] for query in listed] == ["visits"]


def test_the_history_has_no_values(world: World) -> None:
    for caller in ("ann", "olga"):
        items = world.answer("GET", "/api/v1/releases", by=caller)["items"]
        assert items
        assert "values" not in items[0]


def test_events_have_their_place_their_hash_and_the_fields_of_the_leaf(world: World) -> None:
    page = world.answer("GET", "/api/v1/audit/events?limit=500", by="olga")
    assert page["next_cursor"] is None
    assert [event["index"] for event in page["items"]] == list(range(len(page["items"])))
    for event in page["items"]:
        assert {"index", "leaf_hash", "v", "kind", "at", "actor"} <= set(event)
        assert "leaf" not in event


def test_events_are_filtered_by_person_query_kind_and_time(world: World) -> None:
    def kinds(arguments: str) -> set[str]:
        page = world.answer("GET", f"/api/v1/audit/events?{arguments}", by="olga")
        return {event["kind"] for event in page["items"]}

    assert kinds("kind=release") == {"release"}
    assert kinds("user=ann&query=visits") == {"release"}
    assert kinds("query=visits") == {"query", "level", "release"}
    assert kinds("since=2026-11-20T12:00:00Z") == set()
    assert kinds("until=2026-11-20T12:30:00%2B01:00") != set()


def test_every_kind_of_event_can_be_asked_for(world: World) -> None:
    assert set(audit.EventKind.__args__) == set(KINDS)  # type: ignore[attr-defined]  # a Literal
    for kind in KINDS:
        world.answer("GET", f"/api/v1/audit/events?kind={kind}", by="olga")


def test_exposure_has_every_field_of_the_contract(world: World) -> None:
    answer = world.answer("GET", "/api/v1/audit/exposure?users=ann,ian&dataset=sites", by="olga")
    assert answer["users"] == ["ann", "ian"]
    assert answer["queries"][0]["query"] == "visits"
    assert set(answer["queries"][0]) == {"query", "level", "guarantee", "composed"}
    for name in ("released", "could_be", "independent"):
        assert set(answer[name]) == {"epsilon", "delta"}
    assert answer["reach"]["tier"] == "internal"
    assert "registrars" in answer


def test_a_report_has_every_field_of_the_contract(world: World) -> None:
    answer = world.answer("GET", "/api/v1/audit/report?dataset=sites", by="olga")
    assert set(answer) == {"facts", "facts_sha256", "note", "key"}
    assert set(answer["facts"]) == {
        *("format", "dataset", "dataset_title", "versions", "start", "end", "made_at", "made_by"),
        *("releases", "people", "tiers", "given", "budgets", "coalitions", "log"),
    }
    assert answer["facts"]["given"][0]["user"] == "ann"


def test_lists_go_on_where_the_page_before_ended(world: World) -> None:
    for path, by in (
        ("/api/v1/users", "root"),
        ("/api/v1/tiers", "ann"),
        ("/api/v1/queries", "root"),
        ("/api/v1/audit/events", "olga"),
        ("/api/v1/users/ann/tokens", "root"),
    ):
        whole = world.answer("GET", path, by=by)
        assert set(whole) == {"items", "next_cursor"}
        gathered: list[Any] = []
        cursor = ""
        while cursor is not None:
            page = world.answer("GET", f"{path}?limit=1{cursor and f'&cursor={cursor}'}", by=by)
            assert len(page["items"]) == 1
            gathered += page["items"]
            cursor = page["next_cursor"]
        assert gathered == whole["items"]


def test_a_limit_above_the_largest_is_clamped(world: World) -> None:
    assert world.answer("GET", "/api/v1/tiers?limit=1000000", by="ann")["items"]


def test_an_empty_list_is_a_list(world: World) -> None:
    empty: dict[str, Any] = {"items": [], "next_cursor": None}
    assert world.answer("GET", "/api/v1/queries", by="noa") == empty
    assert world.answer("GET", "/api/v1/releases", by="noa") == empty


def test_head_answers_as_get_without_a_body(world: World) -> None:
    response = world.call("HEAD", "/api/v1/me", by="ann")
    assert (response.status_code, response.data) == (200, b"")
    assert world.call("HEAD", "/api/v1/me").status_code == 401
