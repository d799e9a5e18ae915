"""Test what settings mean: addresses and folders that follow from others."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.places import ROOT

from penstock.errors import InvalidInput
from penstock.setting_checks import WEBHOOK_EVENTS, check
from penstock.setting_sources import load
from penstock.settings import Settings

WEBHOOK = {"webhook_url": "https://example.org/", "webhook_secret": "s" * 32}
PROVIDER = {"oidc_issuer": "https://id.example.org", "oidc_audience": "penstock"}


def test_the_owner_migrates_where_one_is_named() -> None:
    settings, _ = load({"PENSTOCK_DATABASE_URL": "postgresql://penstock@host/penstock"})
    assert settings.resolved_migration_url == settings.resolved_database_url
    owner = "postgresql://owner@host/penstock"
    settings, _ = load({"PENSTOCK_MIGRATION_DATABASE_URL": owner})
    assert settings.resolved_migration_url == owner


def test_folders_follow_the_home_unless_they_are_set(tmp_path: Path) -> None:
    settings, _ = load({"PENSTOCK_HOME": str(tmp_path), "PENSTOCK_KEYS_FOLDER": "/keys"})
    assert settings.database_path == tmp_path / "database"
    assert settings.keys_path == Path("/keys")
    assert settings.resolved_database_url == f"sqlite:///{tmp_path}/database/penstock.db"


def test_settings_made_in_code_read_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_PORT", "9002")
    assert Settings().port == 8080
    assert load()[0].port == 9002


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key_provider": "vault"}, "it must be keyring or pkcs11"),
        ({"key_provider": "pkcs11"}, "needs the settings pkcs11_module and pkcs11_token"),
        ({"oidc_issuer": "https://id.example.org"}, "needs oidc_audience and oidc_claim"),
        ({"oidc_client_id": "penstock"}, "oidc_client_id needs oidc_issuer"),
        ({**PROVIDER, "oidc_client_id": "p", "oidc_scopes": "profile"}, "the scope openid"),
        ({**PROVIDER, "oidc_client_id": "p", "oidc_create_users": True}, "and oidc_groups_claim"),
        ({**PROVIDER, "oidc_groups_claim": "g", "oidc_create_users": True}, "needs oidc_client_id"),
        ({"log_level": "LOUD"}, "DEBUG, INFO, WARNING or ERROR"),
        ({"replicas": "two"}, "it must be required or none"),
        ({"metrics_token": "short"}, "must have 16 characters or more"),
        ({"public_url": "penstock.example.org"}, "must be an address as readers type it"),
        ({"webhook_url": "https://example.org/"}, "needs webhook_secret, with 32 characters"),
        (
            {"webhook_url": "https://example.org/", "webhook_secret": "s" * 32 + "\nold"},
            "32 characters or more in each line",
        ),
        ({**WEBHOOK, "webhook_events": "budget.raised budgets"}, "'budgets', which is no kind"),
        ({**WEBHOOK, "webhook_events": " "}, "is empty; it must have some of these"),
        *(
            ({"traces_url": url}, "must be the address where a collector takes OTLP")
            for url in (
                *("collector:4318", "https://", "http://a@b.org/c", "http://b.org/?c=d"),
                *("http://b.org:4318", "http://b.org:4318/"),
            )
        ),
        *(
            ({"webhook_url": url, "webhook_secret": "s" * 32}, "must begin with https://")
            for url in (
                *("http://example.org/", "ftp://example.org/", "https://", "example.org"),
                *("http://127.0.0.1.example.org/", "https://a@example.org/", "https://b.org/#a"),
                *("https://example.org/a b", "https://example.org/\r\nX: y", "https://b.org:x/"),
            )
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check(Settings(**changes))


def test_the_defaults_can_work() -> None:
    check(Settings())


@pytest.mark.parametrize(
    "url",
    ["https://example.org/a?b=c", "http://127.0.0.1:8000/", "http://[::1]:1/", "http://localhost"],
)
def test_a_webhook_is_reached_by_https_or_on_this_machine(url: str) -> None:
    check(Settings(webhook_url=url, webhook_secret="s" * 32))


def test_a_webhook_that_cannot_work_is_refused_without_its_secrets() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(Settings(webhook_url="http://example.org/key", webhook_secret="short-secret"))
    assert "example.org" not in str(refused.value)
    with pytest.raises(InvalidInput) as refused:
        check(Settings(webhook_url="https://example.org/key", webhook_secret="short-secret"))
    assert "key" not in str(refused.value).replace("webhook", "")
    assert "short-secret" not in str(refused.value)


def test_the_setting_that_the_operators_page_shows_has_every_kind_of_event() -> None:
    page = (ROOT / "deploy/README.md").read_text()
    (shown,) = re.findall(r'export PENSTOCK_WEBHOOK_EVENTS="(.*)"', page)
    settings, _ = load(
        {f"PENSTOCK_{name.upper()}": value for name, value in WEBHOOK.items()}
        | {"PENSTOCK_WEBHOOK_EVENTS": shown}
    )
    assert sorted(settings.webhook_events.split()) == sorted(WEBHOOK_EVENTS)
    assert set(Settings().webhook_events.split()) == {"request.opened", "request.decided"}


def test_the_clients_secret_is_masked() -> None:
    settings, provenance = load({"PENSTOCK_OIDC_CLIENT_SECRET": "hush"})
    assert settings.oidc_client_secret == "hush"
    assert "hush" not in repr(settings)
    assert {each.value for each in provenance if each.name == "oidc_client_secret"} == {"(set)"}
