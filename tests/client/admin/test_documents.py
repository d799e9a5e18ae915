"""Test the columns of people, tiers, tokens, schedules, proposals and events."""

from typing import Any

import pytest

from penstock_client import Event, Invitation, Proposal, Schedule, Tier, Token, User
from penstock_client._http.fields import Fields
from penstock_client._show.output import Format, written
from penstock_client.admin import documents

AT = "2026-11-20T12:00:00Z"
TEXT = "2026-11-20T12:00:00+00:00"
SHOWN: dict[str, tuple[Any, dict[str, Any], Any, str]] = {
    "users": (
        *(User, {"name": "eve", "roles": ["admin", "auditor"], "active": False, "created_at": AT}),
        *(documents.users, f'eve,"admin, auditor",,False,{TEXT}'),
    ),
    "tokens": (
        *(Token, {"prefix": "p", "user": "eve", "scopes": [], "expires": AT, "revoked": None}),
        *(documents.tokens, f"p,eve,,{TEXT},"),
    ),
    "invitations": (
        Invitation,
        {
            "id": "k",
            "name": "lea",
            "roles": ["analyst"],
            "expires": AT,
            "by": "root",
            "state": "open",
        },
        *(documents.invitations, f"k,lea,analyst,,open,{TEXT},root"),
    ),
    "tiers": (
        *(Tier, {"name": "public", "rank": 10, "description": "=all"}),
        *(documents.tiers, "public,10,'=all"),
    ),
    "schedules": (
        *(Schedule, {"name": "s", "on": True, "next_at": AT, "spec": {"cron": "@daily"}}),
        *(documents.schedules, f"s,,'@daily,True,{TEXT},"),
    ),
    "proposals": (
        Proposal,
        {
            "id": "p",
            "act": "a",
            "state": "open",
            "request": {},
            "proposed_by": "root",
            "proposed_at": AT,
            "expires_at": AT,
        },
        *(documents.proposals, f"p,a,open,root,{TEXT},{TEXT}"),
    ),
    "events": (
        Event,
        {"index": 4, "leaf_hash": "ab", "kind": "k", "actor": "ann", "at": AT, "query": "visits"},
        *(documents.events, f"4,{TEXT},k,ann,,,visits,"),
    ),
}


@pytest.mark.parametrize("name", list(SHOWN))
def test_a_row_has_a_cell_for_each_column(name: str) -> None:
    model, answer, document_of, row = SHOWN[name]
    document = document_of([model.read(Fields(answer, name))])
    lines = written(document, Format.CSV).splitlines()
    assert lines[1:] == [row]
    assert all(len(cells) == len(document.columns) for cells in document.rows)
    assert written(document_of([]), Format.CSV).splitlines() == lines[:1]
