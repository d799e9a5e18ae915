"""Test what settings mean: addresses and folders that follow from others."""

from pathlib import Path

import pytest

from penstock.setting_sources import load
from penstock.settings import Settings


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
