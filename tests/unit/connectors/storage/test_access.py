"""A connection says which store is read, and messages about it hold no secret."""

import json

import pytest

from penstock.connectors.storage.access import S3Access, access_of, require_allowed
from penstock.connectors.storage.address import parsed
from penstock.errors import InvalidInput, Unavailable

SECRET = "hush-hush"
S3 = {"store": "s3", "region": "eu-west-1", "access_key_id": "k", "secret_access_key": SECRET}


def test_an_access_has_the_options_of_the_library_and_shows_no_secret() -> None:
    access = access_of(json.dumps(S3), "lake")
    assert isinstance(access, S3Access)
    assert access.options() == {
        "region": "eu-west-1",
        "access_key_id": "k",
        "secret_access_key": SECRET,
    }
    assert SECRET not in repr(access)
    assert SECRET not in str(access)


@pytest.mark.parametrize(
    "text",
    [
        *("", SECRET, "[]", "{}", f'"{SECRET}"', json.dumps({**S3, "store": SECRET})),
        json.dumps({**S3, "acces_key": SECRET}),
        json.dumps({**S3, "secret_access_key": [SECRET]}),
        json.dumps({"store": "http", "hosts": [], "bearer_token": SECRET}),
        json.dumps({"store": "azure", "account_key": SECRET}),
    ],
)
def test_a_setting_that_describes_no_store_is_named_and_not_shown(text: str) -> None:
    with pytest.raises(Unavailable) as refused:
        access_of(text, "lake")
    assert "'lake'" in refused.value.detail
    assert SECRET not in refused.value.detail


@pytest.mark.parametrize(
    ("setting", "uri", "allowed"),
    [
        (S3, "s3://any/a.parquet", True),
        (S3, "gs://any/a.parquet", False),
        (S3, "https://any/a.parquet", False),
        ({**S3, "buckets": ["lake"]}, "s3://lake/a.parquet", True),
        ({**S3, "buckets": ["lake"]}, "s3://lake2/a.parquet", False),
        ({"store": "gcs", "anonymous": True}, "gs://any/a.parquet", True),
        ({"store": "azure", "account_name": "a"}, "az://any/a.parquet", True),
        ({"store": "http", "hosts": ["a.org"]}, "https://A.org/a.parquet", True),
        ({"store": "http", "hosts": ["a.org"]}, "https://a.org:444/a.parquet", False),
        ({"store": "http", "hosts": ["a.org"]}, "https://b.a.org/a.parquet", False),
        ({"store": "http", "hosts": ["a.org"]}, "https://169.254.169.254/a.parquet", False),
        ({"store": "http", "hosts": ["a.org"]}, "http://a.org/a.parquet", False),
        ({"store": "http", "hosts": ["a.org"], "allow_http": True}, "http://a.org/a.json", True),
    ],
)
def test_a_connection_reaches_its_store_alone(
    setting: dict[str, object], uri: str, allowed: bool
) -> None:
    access = access_of(json.dumps(setting), "lake")
    if allowed:
        require_allowed(access, parsed(uri))
        return
    with pytest.raises(InvalidInput) as refused:
        require_allowed(access, parsed(uri))
    assert refused.value.errors[0][0] == "/source/uri"


@pytest.mark.parametrize("token", ["canary\n", "canary\u20ac"])
def test_a_token_that_is_no_header_is_refused_without_it(token: str) -> None:
    text = json.dumps({"store": "http", "hosts": ["files.example.org"], "bearer_token": token})
    with pytest.raises(Unavailable, match="Look at bearer_token") as refused:
        access_of(text, "lake")
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("store", "field"),
    [
        ({"store": "s3", "region": "eu-west-1"}, "access_key_id"),
        ({"store": "s3", "region": "eu-west-1"}, "session_token"),
        ({"store": "azure"}, "account_name"),
        ({"store": "azure", "account_name": "acme"}, "account_key"),
        ({"store": "azure", "account_name": "acme"}, "sas_key"),
    ],
)
def test_a_key_that_is_no_header_is_refused_without_it(store: dict[str, str], field: str) -> None:
    """The library would end in a panic, which is no ordinary exception."""
    text = json.dumps({**store, field: "canary\n"})
    with pytest.raises(Unavailable, match=f"Look at {field}") as refused:
        access_of(text, "lake")
    assert "canary" not in str(refused.value)
