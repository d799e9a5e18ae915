"""Test settings: environment over file over default, and every mistake named."""

import json
from pathlib import Path

import pytest

from penstock.errors import InvalidInput
from penstock.setting_connections import (
    connections_of,
    folded_connection,
    is_connection,
    variable_of_connection,
)
from penstock.setting_sources import load, misspelled

URL = "postgresql://reader:canary@db.example.org/clinic"


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
        ({"PENSTOCK_DATABASE_URL_FILE": "/nowhere/url"}, "PENSTOCK_DATABASE_URL_FILE names cannot"),
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


def _secrets(environment: dict[str, str], file: Path | None = None) -> dict[str, str]:
    settings, _ = load(environment, file)
    return {name: secret.get_secret_value() for name, secret in settings.connections.items()}


def test_a_connection_is_a_variable_a_file_or_a_line_of_the_settings(tmp_path: Path) -> None:
    secret, file = tmp_path / "secret", tmp_path / "penstock.toml"
    secret.write_text(f" {URL}\n")
    file.write_text('[connections]\nLake-2 = "s3://a"\nwarehouse = "spark"\n')
    environment = {
        "PENSTOCK_CONNECTION_WAREHOUSE": URL,
        "PENSTOCK_CONNECTION_OTHER_FILE": str(secret),
        "PENSTOCK_CONNECTION_NONE": "",
    }
    assert _secrets(environment, file) == {"lake_2": "s3://a", "other": URL, "warehouse": URL}
    sources = {item.name: item.source for item in load(environment, file)[1]}
    assert sources["connection_warehouse"] == "PENSTOCK_CONNECTION_WAREHOUSE"
    assert sources["connection_other"] == "PENSTOCK_CONNECTION_OTHER_FILE"
    assert sources["connection_lake_2"] == str(file)


def test_a_variable_comes_before_its_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the file")
    environment = {
        "PENSTOCK_CONNECTION_A": "of the variable",
        "PENSTOCK_CONNECTION_A_FILE": str(secret),
    }
    assert _secrets(environment) == {"a": "of the variable"}


def test_no_text_of_the_settings_has_a_secret() -> None:
    settings, provenance = load({"PENSTOCK_CONNECTION_WAREHOUSE": URL})
    texts = [repr(settings), str(settings), repr(provenance), settings.model_dump_json()]
    texts += [str(settings.model_dump()), json.dumps(settings.model_dump(mode="json"))]
    assert "canary" not in "".join(texts)
    shown = next(item for item in provenance if item.name == "connection_warehouse")
    assert (shown.value, shown.source) == ("(set)", "PENSTOCK_CONNECTION_WAREHOUSE")


def test_names_are_folded() -> None:
    assert folded_connection("Ware-House") == "ware_house"
    assert variable_of_connection("ware-house") == "PENSTOCK_CONNECTION_WARE_HOUSE"


@pytest.mark.parametrize("name", ["", "_a", "a b", "a/b", "d\u00e9p\u00f4t", "a_file", "A-FILE"])
def test_other_names_are_no_connections(name: str) -> None:
    assert not is_connection(name)


@pytest.mark.parametrize(
    "environment",
    [
        {"PENSTOCK_CONNECTION_": URL},
        {"PENSTOCK_CONNECTION__FILE": URL},
        {"PENSTOCK_CONNECTION_A.B": URL},
        {"PENSTOCK_CONNECTION_A": "x", "PENSTOCK_CONNECTION_B_FILE_FILE": URL},
        {"PENSTOCK_CONNECTION_A_FILE": "/nowhere/canary.url"},
    ],
)
def test_what_names_no_connection_is_refused_without_its_value(environment: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        load(environment)
    assert URL not in refused.value.detail


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('connections = "canary-x"\n', "must be a table"),
        ("[connections]\na = 7\n", "must be a text"),
        ('[connections]\n"a b" = "canary-x"\n', "names no connection"),
        ('[connections]\na-b = "canary-x"\na_b = "y"\n', "twice"),
        ('connection_a = "canary-x"\n', "unknown settings"),
    ],
)
def test_a_settings_file_is_refused_without_its_values(
    tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=message) as refused:
        load({}, file)
    assert "canary" not in refused.value.detail


def test_a_secret_file_that_is_no_text_is_refused_without_its_bytes(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_bytes(b"canary\xff")
    with pytest.raises(InvalidInput, match="it is no text") as refused:
        connections_of({"PENSTOCK_CONNECTION_A_FILE": str(secret)}, {}, "")
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None


def test_no_variable_has_all_connections() -> None:
    assert _secrets({"PENSTOCK_CONNECTIONS": '{"a": "b"}'}) == {}


@pytest.mark.parametrize(
    "variable", ["PENSTOCK_OIDC_CLIENT_SECRET_FILE", "PENSTOCK_CONNECTION_LAKE_FILE"]
)
@pytest.mark.parametrize("content", [None, b"", b" \n", b"canary\xff"])
def test_a_secret_file_without_a_secret_is_refused_and_nothing_of_it_repeated(
    tmp_path: Path, variable: str, content: bytes | None
) -> None:
    """A path may be the secret itself; an empty file would switch off what it belongs to."""
    secret = tmp_path / "canary"
    if content is not None:
        secret.write_bytes(content)
    with pytest.raises(InvalidInput, match=f"The file that {variable} names cannot") as refused:
        load({variable: str(secret)})
    assert "canary" not in refused.value.detail
    assert refused.value.__context__ is None


def test_a_variable_that_looks_like_a_setting_and_is_none_is_named() -> None:
    (sentence,) = misspelled(
        {
            "PENSTOCK_TWO_PERSON_RUL": "on",
            "PENSTOCK_TWO_PERSON_RULE": "on",
            "PENSTOCK_WEBHOOK_SECRET_FILE": "/run/secrets/webhook",
            "PENSTOCK_CONNECTION_WAREHOUSE": URL,
            "PENSTOCK_TOKEN": "pst_",
            "PENSTOCK_PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "OTHER_TWO_PERSON_RUL": "on",
        }
    )
    assert sentence == (
        "PENSTOCK_TWO_PERSON_RUL is no setting, and is not read. Was PENSTOCK_TWO_PERSON_RULE"
        " meant?"
    )
