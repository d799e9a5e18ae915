"""Test lomas's client: where it connects, and what its methods return."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.client.servers.hosts import TOKEN

from penstock_client import Client, InvalidArgument
from penstock_client import lomas as facade

FLIGHTS: dict[str, Any] = {
    "name": "flights",
    "delta": 1e-6,
    "privacy_unit": {"rows": 1},
    "columns": {
        "carrier": {"type": "string", "categories": ["AA", "UA"]},
        "delay": {"type": "number", "lower": -60, "upper": 600, "missing": 0},
    },
}


@pytest.fixture
def lomas(client: Client, answers: dict[str, Any]) -> facade.Client:
    answers["GET /api/v1/datasets/flights"] = FLIGHTS
    return facade.Client("http://lomas", "Dr. Antartica", "flights", client=client)


def test_metadata_and_budgets_have_lomas_names(lomas: facade.Client) -> None:
    assert lomas.get_dataset_metadata() == {
        "row_privacy": True,
        "columns": {
            "carrier": {
                "type": "string",
                "nullable": False,
                "cardinality": 2,
                "categories": ["AA", "UA"],
            },
            "delay": {"type": "float", "nullable": True, "lower": -60, "upper": 600},
        },
    }
    assert lomas.get_initial_budget().initial_epsilon == 1
    assert lomas.get_total_spent_budget().total_spent_epsilon == 0.6294
    assert lomas.get_remaining_budget().remaining_delta == 1e-6


def test_previous_queries_are_those_of_the_dataset(
    lomas: facade.Client, answers: dict[str, Any]
) -> None:
    (previous,) = lomas.get_previous_queries()
    assert previous["user_name"] == "ann"
    assert previous["client_input"]["query"] == "flights_by_carrier"
    assert previous["response"]["epsilon"] == 0.6294
    answers["GET /api/v1/releases"]["items"][0]["dataset"] = "other"
    assert lomas.get_previous_queries() == []


def test_made_up_rows_come_as_frames(lomas: facade.Client, answers: dict[str, Any]) -> None:
    items = [{"carrier": "AA", "delay": 3.5}, {"carrier": "UA", "delay": None}]
    answers["GET /api/v1/datasets/flights/dummy"] = {"items": items, "next_cursor": None}
    frame: Any = lomas.get_dummy_dataset(nb_rows=2, seed=1)
    assert frame["carrier"].tolist() == ["AA", "UA"]
    lazy: Any = lomas.get_dummy_dataset(lazy=True)
    assert lazy.collect().height == 2


def test_the_environment_decides_where_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[tuple[str | None, str | None]] = []

    class Recorded(Client):
        def __init__(self, url: str | None, token: str | None) -> None:
            connected.append((url, token))
            transport = httpx.MockTransport(lambda _: httpx.Response(200, json=FLIGHTS))
            super().__init__("http://127.0.0.1", TOKEN, transport=transport)

    monkeypatch.setattr("penstock_client.client.Client", Recorded)
    facade.Client(url="http://lomas", dataset_name="flights", client_secret=TOKEN, realm="x")
    facade.Client(url="http://lomas", dataset_name="flights", client_secret="other")
    monkeypatch.setenv("PENSTOCK_URL", "https://penstock")
    monkeypatch.setenv("PENSTOCK_TOKEN", "pst_own")
    facade.Client(url="http://lomas", dataset_name="flights", client_secret=TOKEN)
    assert connected == [
        ("http://lomas", TOKEN),
        ("http://lomas", None),
        ("https://penstock", "pst_own"),
    ]


@pytest.mark.parametrize("library", ["opendp", "diffprivlib", "smartnoise_synth"])
def test_other_libraries_are_refused(lomas: facade.Client, library: str) -> None:
    query: Callable[..., object] = getattr(lomas, library).query
    with pytest.raises(InvalidArgument, match="not answered here"):
        query("a pipeline")
