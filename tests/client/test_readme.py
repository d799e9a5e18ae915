"""Test that the README's Python runs unchanged."""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.questions.asking import ANSWERS, COST
from tests.support.places import ROOT

import penstock_client.lomas
from penstock_client import Admin, Client

COLUMNS = {
    "carrier": {"type": "string", "categories": ["AA", "UA"]},
    "month": {"type": "integer", "lower": 1, "upper": 12},
}
FLIGHTS: dict[str, Any] = {"name": "flights", "columns": COLUMNS}
EVE: dict[str, Any] = {
    "name": "eve",
    "roles": ["analyst"],
    "clearance": "consultants",
    "active": True,
    "created_at": "2026-11-20T12:00:00Z",
}
ADMINISTERED: dict[str, Any] = {
    "POST /api/v1/tiers": {"name": "consultants", "rank": 15, "description": ""},
    "POST /api/v1/users": {**EVE, "clearance": "public"},
    "PATCH /api/v1/users/eve": EVE,
    "PATCH /api/v1/datasets/flights": {
        "id": "p7",
        "act": "change_budgets",
        "basis": {},
        "proposed_by": "root",
    },
    "GET /api/v1/users": {"items": [EVE], "next_cursor": None},
}
README = ROOT / "clients" / "python" / "README.md"


def test_every_example_runs(
    server: Callable[[httpx.Request], httpx.Response],
    refuse: Callable[..., httpx.Response],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    token: str,
    answers: dict[str, Any],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    answers |= {**ANSWERS, **ADMINISTERED, "GET /api/v1/datasets/flights": FLIGHTS}

    def handle(request: httpx.Request) -> httpx.Response:
        if b"internal" in request.content:
            return refuse(403, "CLEARANCE_TOO_LOW")
        return server(request)

    transport = httpx.MockTransport(handle)
    monkeypatch.setenv("PENSTOCK_TOKEN", token)
    monkeypatch.setattr(
        "penstock_client.client.Client", functools.partial(Client, transport=transport)
    )
    for made in (Client, Admin):
        made_here = functools.partial(made, transport=transport)
        monkeypatch.setattr(penstock_client, made.__name__, made_here)
    examples = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    assert len(examples) >= 4
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "README.md", "exec"), names)  # noqa: S102 # running it is the test
    out = capsys.readouterr().out
    assert "ann partner" in out
    assert "flights_by_carrier for partner: from 0 ± 89 (UA) to 31,988 ± 89 (AA)" in out
    assert (tmp_path / "flights.svg").read_text("utf-8").startswith("<svg ")
    assert "AA: 31988 (31872 to 32103)" in out
    assert "31988 (31863 to 32112), exact for Gaussian noise" in out
    assert "Fieller, exact for Gaussian noise" in out
    assert "[3.5, -4.5]" in out
    assert "[3.5, -1.0] 0.6294" in out
    assert "5 2 3" in out
    assert "kary 9.44 18" in out
    assert "partner: epsilon 0.1, ±71.2 at 95%, charge 1.64%" in out
    assert "[{'column': 'carrier'}, {'column': 'season'}]" in out
    assert "{'epsilon': 0.1, 'delta': 1e-06}" in out
    assert "[31988.0, 0.0] 0.6294" in out
    assert COST["spec_sql"] in out
    assert "another admin must approve p7" in out
    assert "not for my clearance: What happened." in out
