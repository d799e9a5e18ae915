"""Test ``penstock group``: groups are mapped, listed and unmapped."""

import pytest
from tests.unit.cli.program_runs import Run


def test_groups_are_mapped_listed_and_unmapped(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "names one by PENSTOCK_OIDC_ISSUER" in here("group", "map", "x", "--role", "admin").err
    monkeypatch.setenv("PENSTOCK_OIDC_ISSUER", "https://id.example.org")
    monkeypatch.setenv("PENSTOCK_OIDC_AUDIENCE", "penstock")
    given = ("group", "map", "/staff", "--role", "analyst", "--tier", "public", "--format", "json")
    made = here(*given).json
    assert (made["group"], made["roles"], made["tier"]) == ("/staff", ["analyst"], "public")
    assert here("group", "list", "--format", "json").json == [made]
    assert here("group", "unmap", made["id"]).code == 0
    assert "No group is mapped." in here("group", "list").err
    assert here("group", "map", "/staff").code == 2
