"""Test ``init``, ``status``, ``config`` and ``db``."""

import hashlib
import json
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run, start

from penstock.persistence import migrate


def everything_in(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def test_init_makes_three_folders_without_tiers_or_users(run: Run, bare: Path) -> None:
    made = run("init", "--format", "json")
    assert made.code == 0
    assert made.json == {
        "home": str(bare),
        **{name: str(bare / name) for name in ("database", "keys", "witness")},
    }
    for name in ("database", "keys", "witness"):
        assert stat.S_IMODE((bare / name).stat().st_mode) == 0o700
    for secret in (bare / "keys").iterdir():
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert run("tier", "list", "--format", "json").json == []
    assert run("user", "list", "--format", "json").json == []


def test_init_where_a_home_exists_changes_nothing(here: Run, furnished: Path) -> None:
    before = everything_in(furnished)
    again = here("init")
    assert again.code == 1
    assert again.out == ""
    assert "already" in again.err
    assert everything_in(furnished) == before
    assert len(here("user", "list", "--format", "json").json) == 5


def test_init_says_where_it_may_not_write(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", "/proc/nothing/home")
    refused = run("init")
    assert refused.code == 1
    assert "PENSTOCK_HOME" in refused.err


def test_the_home_is_where_the_command_is_run_unless_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PENSTOCK_HOME")
    assert run("init").code == 0
    assert (tmp_path / "penstock-home" / "database" / "penstock.db").exists()


@pytest.mark.parametrize("command", ["status", "tier list", "release q --as a", "serve"])
def test_without_a_home_every_command_says_how_to_make_one(run: Run, command: str) -> None:
    refused = run(*command.split())
    assert refused.code == 1
    assert refused.out == ""
    assert "penstock init" in refused.err


def test_status_tells_the_parts_and_warns_of_one_disk(here: Run, furnished: Path) -> None:
    status = here("status", "--format", "json")
    assert status.code == 0
    assert status.json["good"] is True
    assert status.json["home"] == str(furnished)
    parts = {part["part"]: part for part in status.json["parts"]}
    assert migrate.NEWEST in parts["database"]["state"]
    assert parts["database"]["place"] == str(furnished / "database" / "penstock.db")
    ring = json.loads((furnished / "keys" / "keyring.json").read_text())
    assert parts["keys"]["state"].startswith(f"keyring, {len(ring['keys'])} key")
    assert [word in status.err for word in ("keys", "witness")] == [True, True]
    assert "Warning" not in status.out


@pytest.mark.parametrize("command", ["status", "config show"])
def test_a_misspelled_variable_is_warned_of(
    here: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    assert "TWO_PERSON_RULE meant" not in here(*command.split()).err
    monkeypatch.setenv("PENSTOCK_TWO_PERSON_RUL", "on")
    assert "Was PENSTOCK_TWO_PERSON_RULE meant?" in here(*command.split()).err


def test_status_warns_of_room_that_becomes_scarce(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = shutil.disk_usage(Path.cwd()).free
    for reserve, scarce in ((left // 4, False), (left - left // 4, True)):
        monkeypatch.setenv("PENSTOCK_ROOM_RESERVE", str(reserve))
        status = here("status", "--format", "json")
        assert status.code == 0
        warnings = [warning for warning in status.json["warnings"] if "MiB of room" in warning]
        assert bool(warnings) is scarce
    assert "nothing more is released or registered. Make room on its disk" in warnings[0]


def test_status_does_not_warn_of_other_disks(
    here: Run, furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Path("/dev/shm")  # noqa: S108 - a second file system, where there is one
    if not memory.is_dir() or memory.stat().st_dev == furnished.stat().st_dev:
        pytest.skip("this machine has one disk")
    elsewhere = memory / f"penstock-test-{furnished.parent.name}"
    try:
        shutil.copytree(furnished / "keys", elsewhere)
        shutil.rmtree(furnished / "keys")
        monkeypatch.setenv("PENSTOCK_KEYS_FOLDER", str(elsewhere))
        status = here("status")
        assert status.code == 0
        assert "The keys" not in status.err
        assert "The witness" in status.err
    finally:
        shutil.rmtree(elsewhere, ignore_errors=True)


@pytest.mark.parametrize(
    ("harm", "part", "says"),
    [
        (lambda home: (home / "keys" / "keyring.json").chmod(0o640), "keys", "chmod 600"),
        (lambda home: (home / "keys" / "secrets.json").unlink(), "keys", "missing"),
        (lambda home: (home / "database" / "penstock.db").unlink(), "database", "penstock.db"),
        (lambda home: (home / "database" / "penstock.db").write_text("x" * 9999), "database", ""),
        (lambda home: shutil.rmtree(home / "witness"), "witness", "missing"),
        (lambda home: (home / "witness" / "log.json").unlink(), "witness", "missing"),
        (lambda home: (home / "witness" / "log.json").write_text("{}"), "witness", "server wrote"),
    ],
)
def test_status_exits_1_and_names_what_is_wrong(
    here: Run, furnished: Path, harm: object, part: str, says: str
) -> None:
    assert callable(harm)
    harm(furnished)
    status = here("status", "--format", "json")
    assert status.code == 1
    bad = [row for row in status.json["parts"] if not row["good"]]
    assert [row["part"] for row in bad] == [part]
    assert says in bad[0]["state"]


def test_config_show_names_where_each_value_came_from(
    run: Run, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "penstock.toml").write_text('port = 9000\nhost = "::1"\n')
    (tmp_path / "url").write_text("sqlite:////hidden/place.db")
    monkeypatch.setenv("PENSTOCK_PORT", "9001")
    monkeypatch.setenv("PENSTOCK_DATABASE_URL_FILE", str(tmp_path / "url"))
    shown = run("config", "show", "--format", "json")
    settings = {setting["name"]: (setting["value"], setting["source"]) for setting in shown.json}
    assert settings["home"] == (str(bare), "PENSTOCK_HOME")
    assert settings["port"] == ("9001", "PENSTOCK_PORT")
    assert settings["host"] == ("::1", "penstock.toml")
    assert settings["workers"] == ("2", "default")
    assert settings["database_url"] == ("(set)", "PENSTOCK_DATABASE_URL_FILE")
    assert "hidden" not in run("config", "show").out


@pytest.mark.parametrize(
    ("name", "value"), [("PENSTOCK_BUSY_TIMEOUT", "soon"), ("PENSTOCK_TOKEN_DAYS", "0")]
)
def test_a_wrong_setting_is_named(
    here: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    refused = here("user", "list")
    assert refused.code == 1
    assert name.removeprefix("PENSTOCK_").lower() in refused.err
    assert value in refused.err


def test_db_current_and_upgrade_of_a_database_as_needed(here: Run) -> None:
    shown = here("db", "current", "--format", "json")
    assert shown.json == {"schema": migrate.NEWEST, "needed": migrate.NEWEST}
    upgraded = here("db", "upgrade")
    assert upgraded.code == 0
    assert "nothing else was changed" in upgraded.err
    checked = here("db", "upgrade", "--check")
    assert (checked.code, checked.out) == (0, "")
    assert "nothing to do" in checked.err


def test_an_empty_database_is_refused_until_it_is_upgraded(here: Run, furnished: Path) -> None:
    database = furnished / "database" / "penstock.db"
    database.unlink()
    sqlite3.connect(database).close()
    refused = here("user", "list")
    assert refused.code == 1
    assert "penstock db upgrade" in refused.err
    assert here("db", "current", "--format", "json").json["schema"] is None
    checked = here("db", "upgrade", "--check", "--format", "json")
    assert checked.code == 1
    assert [step["schema"] for step in checked.json["steps"]] == [*migrate.revisions()]
    checked = here("db", "upgrade", "--check")
    assert f"{len(migrate.revisions())} steps. Nothing was changed" in checked.err
    assert here("db", "current", "--format", "json").json["schema"] is None
    assert here("db", "upgrade").code == 0
    assert here("user", "list", "--format", "json").json == []


def test_a_database_of_another_version_is_left_alone(here: Run, furnished: Path) -> None:
    database = furnished / "database" / "penstock.db"
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    commands = (("user", "list"), ("db", "upgrade"), ("db", "upgrade", "--check"))
    for command in (*commands, ("serve", "--port", "0")):
        refused = here(*command)
        assert refused.code == 1
        assert "9999" in refused.err


@pytest.mark.slow
def test_init_from_the_real_program_a_second_time(run: Run, tmp_path: Path, bare: Path) -> None:
    assert run("init").code == 0
    before = everything_in(bare)
    again = start("init", folder=tmp_path, home=bare)
    assert (again.code, again.out) == (1, "")
    assert everything_in(bare) == before
