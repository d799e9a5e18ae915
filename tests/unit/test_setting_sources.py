"""Test settings: environment over file over default, and every mistake named."""

from pathlib import Path

import pytest

from penstock.errors import InvalidInput
from penstock.setting_sources import load


def source_of(name: str, environment: dict[str, str], file: Path | None = None) -> tuple[str, str]:
    _, provenance = load(environment, file)
    found = next(item for item in provenance if item.name == name)
    return found.value, found.source


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("port = 9001\nworkers = 7\n")
    environment = {"PENSTOCK_PORT": "9002"}
    settings, _ = load(environment, file)
    assert (settings.port, settings.workers, settings.host) == (9002, 7, "127.0.0.1")
    assert source_of("port", environment, file) == ("9002", "PENSTOCK_PORT")
    assert source_of("workers", environment, file) == ("7", str(file))
    assert source_of("host", environment, file) == ("127.0.0.1", "default")


def test_a_secret_comes_from_a_file_and_is_never_shown(tmp_path: Path) -> None:
    secret = tmp_path / "url"
    secret.write_text("sqlite:////somewhere/penstock.db\n")
    environment = {"PENSTOCK_DATABASE_URL_FILE": str(secret)}
    settings, _ = load(environment)
    assert settings.resolved_database_url == "sqlite:////somewhere/penstock.db"
    assert source_of("database_url", environment) == ("(set)", "PENSTOCK_DATABASE_URL_FILE")


def test_a_password_in_a_url_is_not_shown() -> None:
    names = ("PENSTOCK_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL")
    environment = dict.fromkeys(names, "postgresql://penstock:canary@host/penstock")
    settings, provenance = load(environment)
    assert settings.resolved_migration_url == environment["PENSTOCK_DATABASE_URL"]
    assert "canary" not in repr(settings) + str(settings) + repr(provenance)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"PENSTOCK_PORT": "many"}, "PENSTOCK_PORT sets port to 'many', which is not a whole"),
        ({"PENSTOCK_PORT": "70000"}, "from 0 to 65535"),
        ({"PENSTOCK_TIME_QUANTUM": "nan"}, "from 0 to 10"),
        ({"PENSTOCK_TIME_QUANTUM": "-1"}, "from 0 to 10"),
        ({"PENSTOCK_WORKERS": "0"}, "from 1 to 256"),
        ({"PENSTOCK_TWO_PERSON_RULE": "maybe"}, "'maybe', which is neither on nor off"),
        ({"PENSTOCK_LOG_LEVEL": "LOUD"}, "DEBUG, INFO, WARNING or ERROR"),
        *(
            ({"PENSTOCK_PUBLIC_URL": url}, "must be an address as readers type it")
            for url in (
                "penstock.example.org",
                "ftp://x",
                "http://a/b?c=1",
                "http://a/b c",
                "https:///x",
            )
        ),
        *(
            ({"PENSTOCK_PUBLIC_URL": url}, "must be an address as readers type it")
            for url in ("http://a//b", "http://u:p@a/", "http://a:x/", "")
        ),
        ({"PENSTOCK_CONFIG": "/nowhere/penstock.toml"}, "cannot be read"),
        ({"PENSTOCK_DATABASE_URL_FILE": "/nowhere/url"}, "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(environment)


def test_a_whole_number_of_the_file_is_no_switch(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text("port = true\n")
    with pytest.raises(InvalidInput, match="sets port to 'True', which is not a whole number"):
        load({}, file)


def test_the_home_must_be_named() -> None:
    with pytest.raises(InvalidInput, match="PENSTOCK_HOME sets home to '', which names no folder"):
        load({"PENSTOCK_HOME": ""})


def test_a_switch_is_on_or_off_in_the_environment_and_the_file(tmp_path: Path) -> None:
    assert source_of("two_person_rule", {}) == ("off", "default")
    for written in ("on", "true", "1", "On"):
        assert load({"PENSTOCK_TWO_PERSON_RULE": written})[0].two_person_rule
    file = tmp_path / "penstock.toml"
    file.write_text("two_person_rule = true\n")
    assert load({}, file)[0].two_person_rule
    assert source_of("two_person_rule", {}, file) == ("on", str(file))
    assert not load({"PENSTOCK_TWO_PERSON_RULE": "off"}, file)[0].two_person_rule


@pytest.mark.parametrize(
    ("content", "message"), [("prot = 1\n", "prot"), ("port = \n", "cannot be read")]
)
def test_a_file_that_cannot_be_meant_is_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=message):
        load({}, file)
