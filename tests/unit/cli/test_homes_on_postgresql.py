"""Test ``init``, ``status``, ``config`` and ``db`` where the database is PostgreSQL."""

import json
from pathlib import Path

import pytest
from tests.databases.cluster import APPLICATION, OWNER, PASSWORD, Cluster
from tests.databases.homes import Home, Homes
from tests.unit.cli.program_runs import Run

from penstock.persistence import migrate

pytestmark = pytest.mark.only("postgresql")


@pytest.fixture
def home(homes: Homes, bare: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Return the folder for a home, with an empty database named by the environment."""
    made = homes.bare(bare)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
def made(home: Home, run: Run) -> Home:
    """Return a home that ``penstock init`` created."""
    assert run("init").code == 0
    return home


def test_init_makes_folders_for_keys_and_witness_alone(home: Home, run: Run) -> None:
    done = run("init", "--format", "json")
    assert done.code == 0
    assert sorted(path.name for path in home.folder.iterdir()) == ["keys", "witness"]
    assert f"database {home.database}" in done.json["database"]
    assert run("tier", "create", "public").code == 0
    assert json.loads(run("tier", "list", "--format", "json").out)[0]["name"] == "public"


def test_init_leaves_a_database_alone_that_has_keys_elsewhere(
    made: Home, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "another"))
    refused = run("init")
    assert refused.code == 1
    assert "in use already" in refused.err
    assert "PENSTOCK_KEYS_FOLDER" in refused.err
    assert not (tmp_path / "another").exists()


def test_init_without_a_server_makes_nothing(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PENSTOCK_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL"):
        monkeypatch.setenv(name, f"postgresql://{APPLICATION}:canary@127.0.0.1:1/absent")
    refused = run("init")
    assert refused.code == 1
    assert "cannot be reached" in refused.err
    assert "127.0.0.1 port 1, database absent" in refused.err
    assert "canary" not in refused.err
    assert not home.folder.exists()


@pytest.mark.usefixtures("made")
def test_status_tells_where_the_database_is_and_is_content_with_two_roles(run: Run) -> None:
    status = run("status", "--format", "json")
    assert status.code == 0
    assert status.json["good"] is True
    assert status.json["warnings"] == []
    (database,) = [part for part in status.json["parts"] if part["part"] == "database"]
    assert "port" in database["place"]
    assert migrate.NEWEST in database["state"]


def test_status_warns_where_one_role_is_both(
    made: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", made.urls["migration_database_url"])
    status = run("status")
    assert status.code == 0
    assert "PENSTOCK_MIGRATION_DATABASE_URL" in status.err


def test_status_of_a_home_whose_server_is_gone_exits_1(
    made: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "postgresql://nobody:canary@127.0.0.1:1/absent")
    status = run("status", "--format", "json")
    assert status.code == 1
    assert status.json["good"] is False
    assert "canary" not in status.out + status.err


def test_an_upgrade_gives_a_new_role_what_it_needs_and_no_more(
    made: Home, run: Run, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cluster.administered() as connection:
        connection.execute("CREATE ROLE second LOGIN")
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", cluster.url(str(made.database), "second"))
    assert "penstock db upgrade" in run("tier", "list").err
    assert run("db", "upgrade").code == 0
    assert run("tier", "create", "public").code == 0
    assert run("status", "--format", "json").json["warnings"] == []
    with cluster.administered(str(made.database)) as connection:
        connection.execute("DROP OWNED BY second")
        connection.execute("DROP ROLE second")


def test_an_owner_alone_serves_and_migrates(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", home.urls["migration_database_url"])
    monkeypatch.delenv("PENSTOCK_MIGRATION_DATABASE_URL")
    assert run("init").code == 0
    assert run("db", "current", "--format", "json").json["schema"] == migrate.NEWEST
    assert run("db", "upgrade", "--check").code == 0


@pytest.mark.usefixtures("made")
def test_no_password_is_shown(
    run: Run, cluster: Cluster, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(home.database)
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", cluster.address(name))
    monkeypatch.setenv("PENSTOCK_MIGRATION_DATABASE_URL", cluster.address(name, OWNER))
    for command in (
        ("config", "show"),
        ("config", "show", "--format", "json"),
        ("status", "--format", "json"),
        ("db", "upgrade"),
        ("db", "current"),
        ("tier", "list"),
    ):
        done = run(*command)
        assert done.code == 0
        assert PASSWORD not in done.out + done.err
