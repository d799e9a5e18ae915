"""Test ``deploy/compose/sso.yaml``: Keycloak beside Penstock, if an operator names this file too.

Keycloak is not started: its realm is compared with the settings that the server then has.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.deployments.compose.composed import CONTENT, document, refusal
from tests.contracts.deployments.deployment_files import DEPLOY, program
from tests.contracts.deployments.dockerfile import container

from penstock.services.operations import home
from penstock.setting_sources import load
from penstock.settings import Settings
from penstock.web.views.analyst import single_sign_on

PATH = DEPLOY / "compose/sso.yaml"
SITE, LOGIN = "penstock.example.org", "login.example.org"
REPLACED = {"command", "entrypoint", "test"}
"""Lists of which a later file's replaces an earlier one's; every other list is added."""


def inserted(text: str) -> str:
    """Return a file's text with what an operator's ``.env`` says."""
    text = re.sub(r"\$\{SITE_ADDRESS[^}]*\}", SITE, text)
    return re.sub(r"\$\{LOGIN_ADDRESS[^}]*\}", LOGIN, text)


def merged(before: Any, after: Any, key: str = "") -> Any:
    """Return what compose reads from two files, by the rules of its specification."""
    if key == "networks":
        before, after = (
            dict.fromkeys(each) if isinstance(each, list) else each for each in (before, after)
        )
    if isinstance(before, dict) and isinstance(after, dict):
        both = {name: merged(before[name], after[name], name) for name in before.keys() & after}
        return {**before, **after, **both}
    if isinstance(before, list) and isinstance(after, list) and key not in REPLACED:
        return [*before, *after]
    return after


ADDED: dict[str, Any] = document(inserted(PATH.read_text()))
BOTH: dict[str, Any] = merged(CONTENT, ADDED)
REALM: dict[str, Any] = json.loads(inserted((DEPLOY / "compose/realm.json").read_text()))
(CLIENT,) = REALM["clients"]


def settings_of(service: str) -> Settings:
    """Return the settings of a container, without those in files."""
    given = {**BOTH["services"][service]["environment"], "PENSTOCK_PUBLIC_URL": f"https://{SITE}"}
    named = {name: value for name, value in given.items() if not name.endswith("_FILE")}
    settings, _ = load({**container().environment, **named})
    return settings


def test_both_files_together_keep_to_the_specification() -> None:
    assert refusal(BOTH) == ""
    mistaken = PATH.read_text().replace("networks: [front, login]", "networks: [front, lgoin]")
    assert "lgoin" in refusal(merged(CONTENT, document(inserted(mistaken))))


def test_without_it_there_is_nothing_of_a_provider() -> None:
    assert not re.search("login|oidc|keycloak", (DEPLOY / "compose.yaml").read_text(), re.I)
    for name, service in CONTENT["services"].items():
        changed = ADDED["services"].get(name, {})
        same = service.keys() - changed.keys()
        assert {key: BOTH["services"][name][key] for key in same} == {
            key: service[key] for key in same
        }
    assert ADDED["services"].keys() & CONTENT["services"].keys() == {*("server", "setup", "proxy")}


@pytest.mark.parametrize("service", ["server", "setup"])
def test_the_settings_and_the_realm_say_the_same(service: str) -> None:
    settings, address = settings_of(service), f"https://{SITE}"
    login = BOTH["services"]["login"]["environment"]
    assert settings.oidc_issuer == f"{login['KC_HOSTNAME']}/realms/{REALM['realm']}"
    assert settings.oidc_client_id == CLIENT["clientId"]
    assert CLIENT["redirectUris"] == [settings.public_url + home.RETURN]
    # Keycloak's scope `profile`, which every client has, writes the name into ID tokens.
    assert settings.oidc_claim == "preferred_username"
    assert "profile" in settings.oidc_scopes.split()
    assert REALM["editUsernameAllowed"] is REALM["registrationAllowed"] is False
    (groups,) = CLIENT["protocolMappers"]
    assert groups["protocolMapper"] == "oidc-group-membership-mapper"
    assert groups["config"]["claim.name"] == settings.oidc_groups_claim
    assert groups["config"]["id.token.claim"] == "true"
    attributes = CLIENT["attributes"]
    assert attributes["pkce.code.challenge.method"] == "S256"
    assert attributes["id.token.signed.response.alg"] in {"RS256", "ES256"}
    told = [page.path for page in single_sign_on.pages.declared if page.verb == "POST"]
    assert [attributes["backchannel.logout.url"]] == [address + path for path in told]


def test_the_client_has_the_secret_of_the_servers_file_and_one_flow() -> None:
    server, login = (BOTH["services"][name] for name in ("server", "login"))
    path = server["environment"]["PENSTOCK_OIDC_CLIENT_SECRET_FILE"]
    name = path.removeprefix("/run/secrets/")
    assert name in server["secrets"]
    assert name in login["secrets"]
    assert CLIENT["secret"] == "${LOGIN_CLIENT_SECRET}"
    script = (DEPLOY / "compose/keycloak.sh").read_text()
    assert f'LOGIN_CLIENT_SECRET=$(< "$secrets/{name}")' in script
    assert CLIENT["publicClient"] is False
    flows = {key for key in CLIENT if key.endswith(("Enabled", "GrantsEnabled"))}
    assert {key for key in flows if CLIENT[key]} == {"standardFlowEnabled"}


def test_images_have_versions_and_databases_no_way_out() -> None:
    for name in ("login", "login_database"):
        service = BOTH["services"][name]
        assert re.search(r":\d+\.\d+", service["image"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "ports" not in service
    assert BOTH["services"]["login_database"]["networks"] == ["login"]
    assert BOTH["networks"]["login"] == {"internal": True}
    for source in re.findall(r"- (\./[^:]*):", PATH.read_text()):
        assert (DEPLOY / source).is_file(), source


def test_the_secrets_are_added_once_to_those_there_are(tmp_path: Path) -> None:
    script, folder = str(DEPLOY / "compose/sso-secrets.sh"), tmp_path / "secrets"
    early = subprocess.run([script, str(folder)], check=False, capture_output=True, text=True)
    assert early.returncode == 1
    assert "run secrets.sh first" in early.stderr
    subprocess.run([str(DEPLOY / "compose/secrets.sh"), str(folder)], check=True)
    kept = {path: path.read_text() for path in folder.iterdir()}
    subprocess.run([script, str(folder)], check=True)
    assert {path.name for path in folder.iterdir()} == set(BOTH["secrets"])
    assert {path: path.read_text() for path in kept} == kept
    again = subprocess.run([script, str(folder)], check=False, capture_output=True, text=True)
    assert again.returncode == 1
    assert "nothing was changed" in again.stderr


def test_keycloak_starts_with_the_passwords_in_its_environment(tmp_path: Path) -> None:
    folder, stand_in = tmp_path / "secrets", tmp_path / "kc.sh"
    for script in ("secrets.sh", "sso-secrets.sh"):
        subprocess.run([str(DEPLOY / "compose" / script), str(folder)], check=True)
    stand_in.write_text('#!/bin/sh\necho "$@"\nenv\n')
    stand_in.chmod(0o755)
    environment = {**os.environ, "SECRETS": str(folder), "KEYCLOAK": str(stand_in)}
    command = ["bash", str(DEPLOY / "compose/keycloak.sh")]
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    first, *variables = said.stdout.splitlines()
    assert first == "start --import-realm"
    for variable, name in (
        ("KC_DB_PASSWORD", "login_database_password"),
        ("KC_BOOTSTRAP_ADMIN_PASSWORD", "login_admin_password"),
        ("LOGIN_CLIENT_SECRET", "login_client_secret"),
    ):
        assert f"{variable}={(folder / name).read_text().strip()}" in variables


@pytest.mark.parametrize(("host", "upstream"), [(SITE, "server:8080"), (LOGIN, "login:8080")])
def test_each_name_leads_to_its_own_server(host: str, upstream: str) -> None:
    proxy = BOTH["services"]["proxy"]
    assert set(proxy["networks"]["front"]["aliases"]) == {SITE, LOGIN}
    path = DEPLOY / "caddy" / Path(proxy["command"][3]).name
    given = {
        name: inserted(value) for name, value in ADDED["services"]["proxy"]["environment"].items()
    }
    environment = {**os.environ, "SITE_ADDRESS": SITE, "UPSTREAM": "server:8080", **given}
    command = [program("caddy", "apt-get install caddy"), "adapt", "--config", str(path)]
    adapted = subprocess.run(
        [*command, "--adapter", "caddyfile"], check=True, capture_output=True, env=environment
    )
    (server,) = json.loads(adapted.stdout)["apps"]["http"]["servers"].values()
    (route,) = (each for each in server["routes"] if each["match"] == [{"host": [host]}])
    assert re.findall(r'"dial": "([^"]*)"', json.dumps(route)) == [upstream]
