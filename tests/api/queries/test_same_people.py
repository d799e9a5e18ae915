"""Test declaring over HTTP that two datasets hold the same people, and the client's view of it."""

from collections.abc import Callable

from tests.api.world import DATASET, World, parsed

from penstock_client._http.fields import Fields
from penstock_client._show.documents import datasets as listed
from penstock_client.models import Dataset

WARDS = "/api/v1/datasets/wards"


def test_budgets_of_both_are_added_up(open_copy: Callable[..., World]) -> None:
    world = open_copy()
    name = DATASET["name"]
    made = world.call("POST", "/api/v1/datasets", {**DATASET, "name": "wards"}, by="root")
    assert parsed(made)["same_people_as"] == []
    assert parsed(world.call("GET", f"{WARDS}/budget", by="root"))["same_people"] == []
    declared = world.call("PATCH", WARDS, {"same_people_as": name}, by="root")
    assert declared.status_code == 200
    assert parsed(declared)["same_people_as"] == [name]
    found = parsed(world.call("GET", f"{WARDS}/budget", by="root"))
    assert [one["dataset"] for one in found["same_people"]] == [name]
    own = {one["tier"]: one["granted"]["epsilon"] for one in found["tiers"]}
    together = {one["tier"]: one["granted"]["epsilon"] for one in found["together"]}
    assert together == {tier: 2 * epsilon for tier, epsilon in own.items()}
    again = world.call("PATCH", WARDS, {"same_people_as": name}, by="root")
    assert again.status_code == 409
    third = {**DATASET, "name": "third", "same_people_as": "wards"}
    shown = parsed(world.call("POST", "/api/v1/datasets", third, by="root"))
    assert sorted(shown["same_people_as"]) == sorted([name, "wards"])
    read = Dataset.read(Fields(shown, "a dataset"))
    assert read.same_people_as == tuple(shown["same_people_as"])
    assert "their privacy losses add up" in listed([read]).note
