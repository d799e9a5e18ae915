"""Test that a database is opened with the secrets that it was made with, and with no others."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import select
from tests.databases.homes import Home, Homes

from penstock.encryption import Secrets, private
from penstock.errors import KeysUnavailable
from penstock.persistence import Database
from penstock.persistence.tables import SecretCheck
from penstock.services.operations import home, status
from penstock.settings import Settings

NAMES = ("pepper", "fingerprint", "values")


@pytest.fixture
def made(backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path) -> Settings:
    """Return the settings of an empty home."""
    return homes.copy(prototype(backend, "empty", Homes.empty), tmp_path / "home").settings()


def checks(settings: Settings) -> dict[str, bytes]:
    server = home.open_server(settings)
    with server.database.read() as session:
        found = dict(session.exec(select(SecretCheck.name, SecretCheck.digest)).all())
    server.database.close()
    return found


def replaced(settings: Settings, name: str) -> None:
    """Put another secret in the place of the one called ``name``."""
    path = settings.keys_path / home.SECRETS
    content = private.read(path)
    assert isinstance(content, dict)
    aside = path.with_name("other.json")
    Secrets.create(aside)
    elsewhere = private.read(aside)
    assert isinstance(elsewhere, dict)
    private.replace(path, [json.dumps({**content, name: elsewhere[name]}).encode()])


@pytest.mark.parametrize("name", NAMES)
def test_a_server_does_not_start_with_another_secret(made: Settings, name: str) -> None:
    before = checks(made)
    assert set(before) == set(NAMES)
    replaced(made, name)
    for attempt in (home.open_server, home.upgrade):
        with pytest.raises(KeysUnavailable, match=rf"not those .* \({name} differ\).*Put the"):
            attempt(made)
    shown = {part.part: part for part in status.examine(made).parts}
    assert not shown["keys"].good


def test_an_upgrade_remembers_the_secrets_of_a_home_from_before(made: Settings) -> None:
    before = checks(made)
    server = home.open_server(made)
    server.database.close()
    _forget(made)
    with pytest.raises(KeysUnavailable, match=r"does not know its secrets.*penstock db upgrade"):
        home.open_server(made)
    home.upgrade(made)
    home.upgrade(made)
    assert checks(made) == before


def test_a_check_tells_nothing_of_the_secret_or_of_other_homes(
    made: Settings, homes: Homes, tmp_path: Path
) -> None:
    secrets = Secrets.load(made.keys_path / home.SECRETS)
    found = checks(made)
    assert len(set(found.values())) == len(NAMES)
    keys = {*secrets.peppers.values(), secrets.fingerprint, secrets.values}
    assert not keys & set(found.values())
    other = checks(homes.empty(tmp_path / "other").settings())
    assert not set(other.values()) & set(found.values())


def _forget(settings: Settings) -> None:
    """Remove the checks, as if the home were from before they were kept."""
    owner = Database(settings.resolved_migration_url)
    with owner.write() as session:
        connection = session.connection()
        on = " ON secret_check" if connection.dialect.name == "postgresql" else ""
        connection.execute(text(f"DROP TRIGGER append_only_secret_check_delete{on}"))
        connection.execute(text("DELETE FROM secret_check"))
    owner.close()
