"""Test ``deploy/compose.yaml``: by the specification of its format, and what it names exists."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.deployments.compose.composed import CONTENT, PATH, document, refusal
from tests.contracts.deployments.deployment_files import DEPLOY, known_command
from tests.contracts.deployments.dockerfile import PATH as DOCKERFILE
from tests.contracts.deployments.dockerfile import container, last_stage
from tests.databases.cluster import SUPERUSER, Cluster

from penstock.cli.home.serving import OWNERS
from penstock.services.datasets.data_folder import folder_of_uploads
from penstock.services.operations import home
from penstock.setting_sources import load
from penstock.settings import Settings

SERVICES: dict[str, Any] = CONTENT["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "penstock"}


def test_the_file_keeps_to_the_specification() -> None:
    assert refusal(CONTENT) == ""


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("read_only: true", "raed_only: true", "raed_only"),
        ("restart: unless-stopped", "restart: sometimes", "sometimes"),
        ("interval: 5s", "interval: 5 parsecs", "parsecs"),
        ("networks: [front, back]", "networks: [front, bakc]", "bakc"),
        ("secrets: [database_url]", "secrets: [database_ulr]", "database_ulr"),
        ("home:/var/lib", "hoem:/var/lib", "hoem"),
    ],
)
def test_a_mistake_in_it_is_noticed(before: str, after: str, word: str) -> None:
    text = PATH.read_text()
    assert before in text
    assert word in refusal(document(text.replace(before, after)))


def test_everything_that_it_names_exists() -> None:
    assert {name for each in SERVICES.values() for name in each.get("depends_on", {})} <= set(
        SERVICES
    )
    build = SERVICES["server"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    for service in SERVICES.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("./") and source != "./backups":
                assert (DEPLOY / source).exists(), source


def test_every_image_of_others_has_a_fixed_version() -> None:
    others = {each["image"] for each in SERVICES.values()} - {"penstock"}
    assert {name for name in others if not re.search(r":\d+\.\d+", name)} == set()


def test_the_settings_of_every_service_can_be_read() -> None:
    for name, service in OURS.items():
        given = {key: value for key, value in service["environment"].items() if "_FILE" not in key}
        settings, _ = load({**container().environment, **given})
        assert settings.host == "0.0.0.0", name  # noqa: S104  # within a network of containers
        assert settings.public_url.startswith("https://")
        folders = {volume.split(":")[1] for volume in service["volumes"]}
        needed = {str(settings.home), str(settings.keys_path), str(settings.witness_path)}
        assert needed <= folders, f"{name} forgets its home when its container is replaced"
        known_command(" ".join(service.get("command", ["serve"])))


def test_uploads_go_to_a_volume_that_the_server_writes_and_workers_read() -> None:
    mounts = {}
    for name, service in OURS.items():
        given = {key: value for key, value in service["environment"].items() if "_FILE" not in key}
        settings, _ = load({**container().environment, **given})
        (mounts[name],) = (
            volume.split(":")
            for volume in service["volumes"]
            if Path(volume.split(":")[1]) == folder_of_uploads(settings)
        )
        assert settings.upload_limit == Settings().upload_limit
    assert {source for source, *_ in mounts.values()} == {"data"}
    assert "data" in CONTENT["volumes"]
    rights = {name: mode for name, (_, _, mode) in mounts.items()}
    assert rights == {"server": "rw", "setup": "rw", "worker": "ro"}
    # A named volume gets its owner from the image's folder.
    (made,) = (each.rest for each in last_stage(DOCKERFILE.read_text()) if "useradd" in each.rest)
    owned = made.partition("install --directory")[2].split()
    assert "--owner=10001" in owned
    assert mounts["server"][1] in owned


def test_a_folder_of_the_machine_can_be_kept_from_being_written() -> None:
    text = PATH.read_text().replace("${DATA_ACCESS:-rw}", "ro")
    content = document(text.replace("${UPLOAD_LIMIT:-268435456}", "0"))
    data = [v for name in OURS for v in content["services"][name]["volumes"] if "/srv/data" in v]
    assert {volume.rpartition(":")[2] for volume in data} == {"ro"}
    assert content["services"]["server"]["environment"]["PENSTOCK_UPLOAD_LIMIT"] == "0"


def test_containers_of_ours_may_do_nothing_else() -> None:
    for service in OURS.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "user" not in service  # that of the image, which is not root
        assert "privileged" not in service


def test_only_the_proxy_is_published_and_only_the_setup_is_the_owner() -> None:
    assert {name for name, each in SERVICES.items() if "ports" in each} == {"proxy"}
    assert {name for name, each in OURS.items() if OWNERS & set(each["environment"])} == {"setup"}
    for name in ("server", "worker", "proxy"):
        assert "migration_database_url" not in SERVICES[name].get("secrets", [])
    assert CONTENT["networks"]["back"] == {"internal": True}
    assert "front" not in SERVICES["database"]["networks"]


def test_the_secrets_are_made_once_for_containers_alone(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    script = str(DEPLOY / "compose/secrets.sh")
    subprocess.run([script, str(folder)], check=True)
    assert {path.name for path in folder.iterdir()} == set(CONTENT["secrets"])
    assert folder.stat().st_mode & 0o777 == 0o700
    named = {Path(each["file"]).name for each in CONTENT["secrets"].values()}
    assert named == set(CONTENT["secrets"])
    password = (folder / "server_password").read_text().strip()
    assert len(password) == 64
    url = (folder / "database_url").read_text().strip()
    assert url == f"postgresql://penstock:{password}@database:5432/penstock"
    again = subprocess.run([script, str(folder)], check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "nothing was changed" in again.stderr
    assert (folder / "server_password").read_text().strip() == password


def test_the_roles_are_enough_for_a_home_and_its_server_cannot_change_history(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Under other names: the tests' PostgreSQL has roles of these already."""
    folder = tmp_path / "secrets"
    environment = {**os.environ, "DATABASE_HOST": f"127.0.0.1:{cluster.port}"}
    subprocess.run([str(DEPLOY / "compose/secrets.sh"), str(folder)], check=True, env=environment)
    script = tmp_path / "roles.sh"
    script.write_text((DEPLOY / "compose/roles.sh").read_text().replace("penstock", "composed"))
    environment |= {"SECRETS": str(folder), "POSTGRES_USER": SUPERUSER}
    environment |= {"PGHOST": str(cluster.folder), "PGPORT": str(cluster.port)}
    environment["PATH"] = f"{cluster.programs}:{environment['PATH']}"
    subprocess.run(["sh", str(script)], check=True, env=environment, capture_output=True)
    urls = {
        name: (folder / name).read_text().strip().replace("penstock", "composed")
        for name in ("database_url", "migration_database_url")
    }
    settings = Settings.model_validate({"home": tmp_path / "home", **urls})
    try:
        home.create(settings)
        server = home.open_server(settings)
        unprotected = server.database.unprotected()
        server.database.close()
        assert unprotected == []
    finally:
        cluster.drop("composed")
