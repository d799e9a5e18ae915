"""Test that settings which cannot work, or exclude each other, are refused with what to set."""

from typing import Any

import pytest

from penstock.errors import InvalidInput
from penstock.setting_checks import check
from penstock.settings import Settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key_provider": "vault"}, "it must be keyring or pkcs11"),
        ({"key_provider": "pkcs11"}, "needs the settings pkcs11_module and pkcs11_token"),
        ({"oidc_issuer": "https://id.example.org"}, "needs oidc_audience and oidc_claim"),
        ({"log_level": "LOUD"}, "DEBUG, INFO, WARNING or ERROR"),
        ({"metrics_token": "short"}, "must have 16 characters or more"),
        ({"public_url": "penstock.example.org"}, "must be an address as readers type it"),
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check(Settings(**changes))


def test_the_defaults_can_work() -> None:
    check(Settings())
