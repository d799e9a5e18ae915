"""Test ``penstock backup``: what it says, and what it refuses."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.unit.cli.program_runs import Run

from penstock.persistence import migrate


def test_a_backup_says_what_must_be_kept_apart(here: Run, furnished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = here("backup", str(copy), "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.json["path"] == str(copy)
    assert done.json["bytes"] == copy.stat().st_size
    assert done.json["keys"] == str(furnished / "keys")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT name FROM query").fetchall() == [("visits",)]


def test_the_table_is_followed_by_a_warning(here: Run, furnished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = here("backup", str(copy))
    assert done.code == 0
    parts = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert parts == {
        "part": "value",
        "backup": str(copy),
        "kind": "sqlite",
        "schema": migrate.NEWEST,
        "bytes": str(copy.stat().st_size),
        "manifest": f"{copy}.keys.json",
    }
    assert str(furnished / "keys") in done.err
    assert "suspended" in done.err


def test_what_exists_is_left_alone(here: Run, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    refused = here("backup", str(tmp_path / "copy.db"))
    assert (refused.code, refused.out) == (1, "")
    assert "exists already" in refused.err
    assert here("backup", str(tmp_path)).code == 2


def test_a_damaged_database_is_not_taken_for_a_backup(
    here: Run, furnished: Path, tmp_path: Path
) -> None:
    database = furnished / "database" / "penstock.db"
    data = bytearray(database.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    database.write_bytes(data)
    refused = here("backup", str(tmp_path / "copy.db"))
    assert refused.code == 1
    assert not (tmp_path / "copy.db").exists()


def test_without_a_home_there_is_nothing_to_back_up(run: Run, bare: Path) -> None:
    refused = run("backup", str(bare.parent / "copy.db"))
    assert refused.code == 1
    assert "penstock init" in refused.err


def test_rotating_keeps_a_backup_open_and_dropping_says_first_what_it_would_do(
    here: Run, furnished: Path, tmp_path: Path
) -> None:
    copy = str(tmp_path / "copy.db")
    here("backup", copy)
    rotated = here("keys", "rotate")
    assert rotated.code == 0
    assert "make a new backup" in rotated.err
    checked = here("backup", "check", copy, "--format", "json")
    assert (checked.code, checked.json["opens"]) == (0, True)
    kept = here("keys", "drop", "--keep", copy, "--format", "json")
    assert kept.json == []
    listed = here("keys", "drop", "--format", "json")
    assert {key["key"] for key in listed.json} == {key["key"] for key in checked.json["keys"]}
    assert here("backup", "check", copy).code == 0
    dropped = here("keys", "drop", "--yes", "--wait", "0", "--format", "json")
    assert (dropped.code, dropped.json["retired"]) == (0, [])
    refused = here("backup", "check", copy)
    assert refused.code == 1
    assert "not there" in refused.out
    assert "must not be restored" in refused.err
    assert here("keys", "drop", "00" * 8).code == 1
    assert here("release", "visits", "--as", "pia").code == here("status").code == 0


def test_a_rotated_pepper_keeps_tokens_until_it_is_dropped(
    here: Run, furnished: Path, tmp_path: Path
) -> None:
    copy = str(tmp_path / "copy.db")
    here("backup", copy)
    here("token", "create", "pia")
    rotated = here("keys", "rotate-secret", "pepper", "--format", "json")
    assert [pepper["retired"] for pepper in rotated.json["peppers"]] == [False, True]
    peppers = here("keys", "drop-secret", "pepper")
    assert peppers.code == 0
    assert "not used since the rotation" in peppers.err
    assert here("backup", "check", copy).code == 0
    dropped = here("keys", "drop-secret", "pepper", "--yes", "--format", "json")
    assert [pepper["number"] for pepper in dropped.json["peppers"]] == [2]
    assert here("backup", "check", copy).code == 1
    assert here("keys", "rotate-secret", "salt").code == 2
    assert here("status").code == 0
