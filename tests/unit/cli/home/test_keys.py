"""Test ``penstock keys``: keys are put again, and destroyed when that is said twice."""

from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run


def retired(here: Run) -> list[str]:
    status = here("keys", "status", "--format", "json").json
    return [key["key"] for key in status["retired"]]


def test_a_rotation_retires_the_keys_and_everything_is_read_as_before(here: Run) -> None:
    before = here("keys", "status", "--format", "json").json
    drawn = here("release", "visits", "--as", "pia", "--format", "json").json
    assert here("keys", "rotate").code == 0
    after = here("keys", "status", "--format", "json").json
    keys_of = [{used["key"] for used in status["used"]} for status in (before, after)]
    assert keys_of[0].isdisjoint(keys_of[1])
    assert len(retired(here)) == before["keys"]
    again = here("release", "visits", "--as", "pia", "--format", "json").json
    assert again["values"] == drawn["values"]


def test_keys_are_destroyed_only_with_yes(here: Run) -> None:
    assert here("keys", "rotate").code == 0
    keys = retired(here)
    shown = here("keys", "drop", "--wait", "0")
    assert shown.code == 0
    assert all(key in shown.out for key in keys)
    assert retired(here) == keys
    done = here("keys", "drop", "--wait", "0", "--yes")
    assert done.code == 0
    assert f"In 0 seconds {len(keys)} keys will be destroyed." in done.err
    assert retired(here) == []


def test_a_key_that_a_backup_needs_is_kept(here: Run, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    assert here("backup", "create", str(backup)).code == 0
    assert here("keys", "rotate").code == 0
    keys = retired(here)
    assert here("keys", "drop", "--wait", "0", "--yes", "--keep", str(backup)).code == 0
    assert retired(here) == keys


@pytest.mark.parametrize("name", ["pepper", "fingerprint", "values"])
def test_a_secret_is_put_anew_and_the_former_one_kept(here: Run, name: str) -> None:
    token = here("token", "create", "pia").out.strip()
    assert token.startswith("pst_")
    first = here("keys", "rotate-secret", name)
    assert first.code == 0
    assert here("keys", "rotate-secret", name).code == 0
    assert here("audit", "verify").code == 0


def test_the_pepper_that_tokens_rest_on_is_dropped_with_yes(here: Run) -> None:
    assert here("token", "create", "pia").code == 0
    assert here("keys", "rotate-secret", "pepper").code == 0
    assert "1 valid token not used since the rotation" in here("keys", "drop-secret", "pepper").err
    assert here("keys", "drop-secret", "pepper", "--yes").code == 0
    tokens = here("token", "list", "pia", "--format", "json").json
    assert [token["revoked"] is not None for token in tokens] == [True]
