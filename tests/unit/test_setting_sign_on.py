"""Test that sign-in at a provider is not set in part, and that its secret is never shown."""

from typing import Any

import pytest

from penstock.errors import InvalidInput
from penstock.setting_checks import check
from penstock.setting_sources import load
from penstock.settings import Settings

PROVIDER = {"oidc_issuer": "https://id.example.org", "oidc_audience": "penstock"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oidc_client_id": "penstock"}, "oidc_client_id needs oidc_issuer"),
        (
            {**PROVIDER, "oidc_client_id": "p", "oidc_scopes": "profile"},
            "the scope openid",
        ),
        (
            {**PROVIDER, "oidc_client_id": "p", "oidc_create_users": True},
            "and oidc_groups_claim",
        ),
        ({**PROVIDER, "oidc_groups_claim": "g", "oidc_create_users": True}, "needs oidc_client_id"),
    ],
)
def test_sign_in_that_is_set_in_part_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check(Settings(**changes))


def test_the_clients_secret_is_masked() -> None:
    settings, provenance = load({"PENSTOCK_OIDC_CLIENT_SECRET": "hush"})
    assert settings.oidc_client_secret == "hush"
    assert "hush" not in repr(settings)
    assert {each.value for each in provenance if each.name == "oidc_client_secret"} == {"(set)"}
