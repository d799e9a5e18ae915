"""Test the list of queries with a search, filters and an order, which are the catalogue's."""

from typing import Any

from tests.api.world import World

PATH = "/api/v1/queries"
TEXTS = {"title": "Occupied beds", "tags": ["Hospital"], "description": "In wards"}


def names(answer: dict[str, Any]) -> list[str]:
    return [item["name"] for item in answer["items"]]


def test_a_search_and_filters_find_what_the_caller_may_see(world: World) -> None:
    for name in ("visits", "secret"):
        world.answer("PATCH", f"{PATH}/{name}", TEXTS, by="root")
    for given in ("search=OCCUPIED+beds", "tag=hospital", "search=occupied&tag=hospital&sort=name"):
        found = names(world.answer("GET", f"{PATH}?{given}", by="ian"))
        assert found == (["secret", "visits"] if "sort" in given else ["visits", "secret"])
        assert names(world.answer("GET", f"{PATH}?{given}", by="ann")) == ["visits"]
    assert names(world.answer("GET", f"{PATH}?search=occupied+ferries", by="ian")) == []


def test_texts_out_of_sight_are_as_if_they_were_not(world: World) -> None:
    world.answer("PATCH", f"{PATH}/secret", TEXTS, by="root")
    for given in ("search=occupied", "search=secret", "tag=hospital", "only=new&search=hospital"):
        found = world.answer("GET", f"{PATH}?{given}", by="ann")
        assert found == {"items": [], "next_cursor": None}
        assert names(world.answer("GET", f"{PATH}?{given}", by="ian")) == ["secret"]


def test_pages_go_on_in_the_chosen_order(world: World) -> None:
    whole = world.answer("GET", PATH, by="ian")
    first = world.answer("GET", f"{PATH}?sort=newest&limit=1", by="ian")
    rest = f"{PATH}?sort=newest&limit=1&cursor={first['next_cursor']}"
    second = world.answer("GET", rest, by="ian")
    assert [*first["items"], *second["items"]] == whole["items"][::-1]
    assert world.answer("GET", f"{PATH}?sort=oldest", by="ian") == whole


def test_what_no_catalogue_knows_is_refused(world: World) -> None:
    for given in ("sort=largest", "only=mine,new", f"search={'a' * 201}"):
        assert world.call("GET", f"{PATH}?{given}", by="ann").status_code == 422
    for given in ("dataset=nowhere", "dataset=nowhere&search=visits"):
        assert world.call("GET", f"{PATH}?{given}", by="ann").status_code == 404
