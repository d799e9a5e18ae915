"""Test the Python client against the server itself.

Every method, and the same bits in every form.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.api.bad_input.tables.datasets import of_file
from tests.api.world import QUERY, World

from penstock_client import Client, Forbidden, NotFound, PrivacyLoss


@pytest.fixture
def as_user(world: World) -> Callable[[str], Client]:
    """Return a client of this server for anybody."""

    def make(name: str) -> Client:
        transport = httpx.WSGITransport(world.client.application)
        return Client("http://127.0.0.1", world.tokens[name], transport=transport)

    return make


def test_a_release_is_the_same_table_from_the_server_and_from_the_client(
    world: World, as_user: Callable[[str], Client]
) -> None:
    release = as_user("ann").release("visits")
    path = f"/api/v1/releases/{release.id}/values?format="
    streamed = world.call("GET", path + "arrow", by="ann").data
    parquet = world.call("GET", path + "parquet", by="ann").data
    theirs = pa.ipc.open_stream(streamed).read_all()
    mine = release.to_arrow()
    assert mine.equals(theirs)
    assert mine.equals(pq.read_table(io.BytesIO(parquet)))
    assert mine.schema.metadata.keys() == theirs.schema.metadata.keys() == {b"penstock"}
    assert release.to_polars().to_dicts() == theirs.to_pylist()
    assert release.to_pandas()["value"].tolist() == theirs["value"].to_pylist()


def test_lists_are_read_to_their_end(
    world: World, as_user: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(4):
        query = {**QUERY, "name": f"more-{place}", "levels": {"internal": {"epsilon": 0.1}}}
        world.answer("POST", "/api/v1/queries", query, by="root")
    whole = [query.name for query in as_user("root").queries()]
    monkeypatch.setattr("penstock_client.client.PAGE", 2)
    assert [query.name for query in as_user("root").queries()] == whole
    assert len(whole) == 6
    client = as_user("ian")
    for name in ("visits", "secret", "more-1"):
        client.release(name)
    assert [item.query for item in client.history()] == ["visits", "secret", "more-1"]


def test_a_stream_is_read_over_a_range(world: World, as_user: Callable[[str], Client]) -> None:
    opened = {
        "name": "hits all",
        "dataset": "sites",
        "mechanism": "laplace",
        "length": 10,
        "dimension": 2,
        "max_steps_per_unit": 1,
        "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
    }
    world.answer("POST", "/api/v1/streams", opened, by="root")
    path = "/api/v1/streams/hits%20all/elements"
    world.answer("POST", path, {"from": 1, "values": [[1, 2], [3, 4], [5, 6]]}, by="root")
    ann, ian = as_user("ann"), as_user("ian")
    (shown,) = ann.streams("sites")
    assert (shown.name, shown.next, shown.length, shown.dimension) == ("hits all", 4, 10, 2)
    assert [tier.tier for tier in shown.tiers] == ["public"]
    whole = ann.stream("hits all")
    assert [one.t for one in whole] == [1, 2, 3]
    assert (whole.tier, whole.asserted_by, len(whole.items[0].values)) == ("public", "root", 2)
    part = ian.stream("hits all", first=2, last=3, tier="public")
    assert part.items == whole.items[1:]
    assert ian.stream("hits all").items != whole.items
    with pytest.raises(Forbidden):
        ann.stream("hits all", tier="internal")
    with pytest.raises(NotFound):
        ann.stream("nothing")


def test_what_is_asked_for_is_what_the_server_has(as_user: Callable[[str], Client]) -> None:
    ann, olga = as_user("ann"), as_user("olga")
    assert [dataset.name for dataset in ann.datasets()] == ["sites"]
    assert ann.dataset("SITES").name == "sites"
    assert [query.name for query in ann.queries("sites")] == ["visits"]
    with pytest.raises(NotFound):
        ann.queries("moon")
    assert [item.query for item in ann.history()] == ["visits"]
    assert olga.exposure(["ann", "ian"], "sites").reach is not None
    assert olga.exposure(["ann", "ian"]).could_be.epsilon is not None
    with pytest.raises(Forbidden):
        ann.exposure(["ian"])
    wishes: list[dict[str, Any]] = [
        {"tier": "public"}, {"epsilon": 0.05}, {"rho": 1e-4}, {"level": 1e6}
    ]  # fmt: skip
    for wish in wishes:
        assert ann.release("visits", **wish).query == "visits"


def test_the_names_of_lomas_mean_the_same(world: World, as_user: Callable[[str], Client]) -> None:
    ann, olga = as_user("ann"), as_user("olga")
    assert ann.get_dataset_metadata("sites") == ann.dataset("sites")
    assert ann.get_previous_queries() == ann.history()
    (account,) = ann.budget("sites").tiers
    assert ann.get_remaining_budget("sites") == account.remaining
    assert ann.get_total_spent_budget("sites") == account.spent
    assert isinstance(account.spent, PrivacyLoss)
    accounts = {account.tier: account for account in olga.budget("sites").tiers}
    assert olga.get_remaining_budget("sites") == accounts["internal"].remaining
    assert olga.get_total_spent_budget("sites", "Public") == accounts["public"].spent
    with pytest.raises(ValueError, match="public, internal"):
        olga.get_remaining_budget("sites", "moon")


def test_made_up_rows_come_as_a_frame(
    world: World, as_user: Callable[[str], Client], tmp_path: Path
) -> None:
    (tmp_path / "stays.csv").write_text("person,town,visits\nann,north,1\n")
    dataset = of_file(str(tmp_path / "stays.csv"))
    world.answer("POST", "/api/v1/datasets", dataset, by="root")
    ann = as_user("ann")
    frame = ann.get_dummy_dataset(dataset["name"], nb_rows=7, seed=3)
    assert (len(frame), set(frame.columns)) == (7, set(dataset["columns"]))
    dummy = ann.dummy(dataset["name"], rows=7, seed=3)
    assert dummy.to_pandas().equals(frame)
    assert dummy.to_polars().height == dummy.to_arrow().num_rows == 7
    assert ann.dummy(dataset["name"], seed=4).rows != ann.dummy(dataset["name"], seed=5).rows


def test_a_stream_is_previewed_pushed_again_and_read_as_a_table(
    as_user: Callable[[str], Client], world: World
) -> None:
    spec = {
        "name": "hits",
        "dataset": "sites",
        "mechanism": "laplace",
        "length": 10,
        "max_steps_per_unit": 1,
        "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}},
    }
    root, ann = as_user("root"), as_user("ann")
    found = root.preview_stream(spec)
    assert [tier.tier for tier in found.tiers] == ["public", "internal"]
    assert [one.chosen for one in found.structures].count(True) == 1
    assert [tier.tier for tier in ann.preview_stream(spec).tiers] == ["public"]
    world.answer("POST", "/api/v1/streams", spec, by="root")
    assert root.push("hits", [1, 2, 3]).next == 4
    again = root.push("hits", [1, 2, 3, 4], first=1)
    assert (again.skipped, again.last, again.next) == (3, 4, 5)
    with pytest.raises(Forbidden):
        ann.push("hits", [5])
    totals = ann.stream("hits")
    frame = totals.to_pandas()
    assert frame["total"].tolist() == [one.values[0] for one in totals]
    assert frame.attrs["tier"] == "public"
    assert len(totals.to_arrow()) == len(totals.to_polars()) == 4
