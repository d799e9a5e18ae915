"""Test the keys of HMACs, in a file of their own."""

import base64
import json
from pathlib import Path

import pytest

from penstock.encryption import Secrets, SecretsFile, secrets
from penstock.errors import KeysUnavailable

NAMES = ("pepper", "fingerprint", "values")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "secrets.json"


def test_what_was_created_is_what_is_loaded(path: Path) -> None:
    assert Secrets.create(path) == Secrets.load(path)


def test_there_are_three_keys_and_all_differ(path: Path) -> None:
    found = Secrets.create(path)
    assert secrets.NAMES == NAMES
    keys = {*found.peppers.values(), found.fingerprint, found.values}
    assert {len(key) for key in keys} == {32}
    assert len(keys) == 3


def test_two_homes_share_no_key(path: Path) -> None:
    one, other = Secrets.create(path), Secrets.create(path.with_name("other.json"))
    assert not {*one.peppers.values(), one.fingerprint, one.values} & {
        *other.peppers.values(),
        other.fingerprint,
        other.values,
    }


def test_secrets_that_exist_are_never_overwritten(path: Path) -> None:
    before = Secrets.create(path)
    with pytest.raises(KeysUnavailable, match="exists already"):
        Secrets.create(path)
    assert Secrets.load(path) == before


def test_secrets_show_nothing(path: Path) -> None:
    found = Secrets.create(path)
    for shown in (repr(found), str(found), f"{found!r}", repr({"secrets": found})):
        assert shown.replace("{'secrets': ", "").rstrip("}") == "Secrets(...)"
    with pytest.raises(TypeError, match="not serialized"):
        found.__reduce__()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [None, 7, "", "canary", base64.b64encode(bytes(33)).decode()])
def test_a_key_that_is_missing_or_of_another_length_is_refused(
    path: Path, name: str, bad: object
) -> None:
    Secrets.create(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: bad}))
    with pytest.raises(KeysUnavailable, match=rf"32 bytes in base64 under '{name}'") as caught:
        Secrets.load(path)
    assert "canary" not in caught.value.detail


@pytest.mark.parametrize(
    ("change", "message"),
    [({"format": "penstock-keyring"}, "not a file of Penstock's"), ({"version": 4}, "version")],
)
def test_another_file_is_refused(path: Path, change: dict[str, object], message: str) -> None:
    Secrets.create(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(KeysUnavailable, match=message):
        Secrets.load(path)


def test_a_rotated_pepper_is_seen_by_others_at_their_next_use(path: Path) -> None:
    made = Secrets.create(path)
    one, other = SecretsFile(path), SecretsFile(path)
    assert one.now == other.now == made
    renewed = one.renew("pepper")
    assert other.now == renewed == Secrets.load(path)
    assert (renewed.newest, renewed.peppers[1]) == (2, made.peppers[1])
    assert renewed.peppers[2] != renewed.peppers[1]
    assert (renewed.fingerprint, renewed.values) == (made.fingerprint, made.values)
    assert one.drop_peppers() == other.now
    assert other.now.peppers == {2: renewed.peppers[2]}
    assert path.stat().st_mode & 0o777 == 0o600
    assert one.renew("pepper").newest == 3


@pytest.mark.parametrize(
    "bad", [None, {}, [], {"one": "x"}, {"": "x"}, {"2": "canary"}, {"\u0662": ""}]
)
def test_peppers_that_are_none_are_refused(path: Path, bad: object) -> None:
    Secrets.create(path)
    SecretsFile(path).renew("pepper")
    path.write_text(json.dumps({**json.loads(path.read_text()), "peppers": bad}))
    with pytest.raises(KeysUnavailable) as caught:
        Secrets.load(path)
    assert "canary" not in caught.value.detail
