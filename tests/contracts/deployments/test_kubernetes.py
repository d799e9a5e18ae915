"""Test the manifests of ``deploy/kubernetes`` by the API's schemas, and what every pod may do."""

import copy
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from tests.contracts.deployments.deployment_files import DEPLOY, known_command
from tests.contracts.deployments.dockerfile import container
from tests.contracts.deployments.manifests import (
    KUBERNETES,
    Manifest,
    as_written,
    kustomize,
    pods,
    resolved,
    settings_of,
)

from penstock.cli.home.serving import OWNERS
from penstock.services.datasets.data_folder import folder_of_uploads
from penstock.setting_sources import load

VERSIONS = ("1.31.0", "1.34.0")
"""Releases of Kubernetes whose schemas are tried: an old one that is still run, and a newer one."""

FOLDERS = ["base", "init", "upgrade", *(f"overlays/example{part}" for part in ("", "/init"))]
FOLDERS.append("overlays/example/upgrade")


def manifests(name: str) -> list[Manifest]:
    words = kustomize()
    folder = KUBERNETES / name
    return as_written(folder) if words is None else resolved(folder, words)


EVERY = {name: manifests(name) for name in ("base", "init", "upgrade")}
PODS = {name: spec for each in EVERY.values() for name, spec in pods(each).items()}
OURS = [
    pytest.param(pod, each, id=f"{name}-{each['name']}")
    for name, pod in PODS.items()
    for each in pod["containers"]
    if each["image"] == "penstock"
]


def refusal(manifest: Manifest) -> str:
    """Return why the API would not take a manifest; empty if it would."""
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(manifest, version, strict=True)
        except kubernetes_validate.ValidationError as problem:
            return f"{version}: {problem.message}"
    return ""


@pytest.mark.parametrize("name", FOLDERS)
def test_the_api_takes_every_manifest(name: str) -> None:
    refusals = {
        f"{each['kind']} {each['metadata']['name']}": refusal(each) for each in manifests(name)
    }
    assert refusals
    assert {subject: why for subject, why in refusals.items() if why} == {}


def test_every_file_is_part_of_a_kustomization() -> None:
    for name in FOLDERS:
        as_written(KUBERNETES / name)
    files = {path for path in KUBERNETES.rglob("*") if path.is_file()}
    named = {
        path
        for folder in (path.parent for path in files if path.name == "kustomization.yaml")
        for path in files
        if path.parent == folder
        and (
            path.name == "kustomization.yaml"
            or path.name in (folder / "kustomization.yaml").read_text()
        )
    }
    assert files - named == set()


def test_a_mistake_in_a_manifest_is_noticed() -> None:
    (server,) = (each for each in EVERY["base"] if each["metadata"]["name"] == "penstock-work")
    broken = copy.deepcopy(server)
    broken["spec"]["template"]["spec"]["enableServiceLink"] = False
    assert "enableServiceLink" in refusal(broken)
    broken = copy.deepcopy(server)
    broken["spec"]["replicas"] = "one"
    assert "one" in refusal(broken)


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_not_root_and_has_no_rights_in_the_cluster(name: str) -> None:
    pod = PODS[name]
    uid, gid = map(int, container().account.split(":"))
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True
    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (uid, gid, gid)
    # Otherwise the group of every file is set at each start, and keys that a group can read are
    # refused.
    assert security["fsGroupChangePolicy"] == "OnRootMismatch"
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    # The Service's variables, PENSTOCK_PORT among them, would be read as settings.
    assert pod["enableServiceLinks"] is False
    for each in pod["containers"]:
        may = each["securityContext"]
        assert may["readOnlyRootFilesystem"] is True
        assert may["allowPrivilegeEscalation"] is False
        assert may["capabilities"]["drop"] == ["ALL"]
        assert {"requests", "limits"} == set(each["resources"])


@pytest.mark.parametrize(("pod", "each"), OURS)
def test_the_settings_of_every_container_can_be_read(
    pod: dict[str, Any], each: dict[str, Any]
) -> None:
    assert each["envFrom"] == [{"configMapRef": {"name": "penstock-settings"}}]
    own = {item["name"]: item["value"] for item in each.get("env", [])}
    given = {**container().environment, **settings_of(EVERY["base"]), **own}
    mounted = [item["mountPath"] for item in each["volumeMounts"]]
    for name, value in given.items():
        if name.endswith("_FILE"):
            assert str(Path(value).parent) in mounted, name
    settings, _ = load({name: value for name, value in given.items() if "_FILE" not in name})
    assert settings.host == "127.0.0.1", "the proxy of the pod is the way in"
    for path in (settings.home, settings.keys_path, settings.witness_path):
        assert any(path.is_relative_to(place) for place in mounted), path
    # A volume's own folder gets the pod's group; the keys' folder is made below it.
    assert str(settings.keys_path) not in mounted
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {item["name"] for item in each["volumeMounts"]} <= volumes
    if "command" not in each:
        known_command(" ".join(each["args"]))


def test_uploads_go_to_a_claim_that_the_server_writes_and_every_pod_of_ours_has() -> None:
    claims = {}
    ours = [
        (pod, each)
        for pod in PODS.values()
        for each in pod["containers"]
        if each["image"] == "penstock"
    ]
    for pod, each in ours:
        given = {**container().environment, **settings_of(EVERY["base"])}
        settings, _ = load({name: text for name, text in given.items() if "_FILE" not in name})
        uploads = folder_of_uploads(settings)
        (mount,) = (m for m in each["volumeMounts"] if uploads.is_relative_to(m["mountPath"]))
        (volume,) = (v for v in pod["volumes"] if v["name"] == mount["name"])
        assert settings.upload_limit
        claims[each["name"]] = (volume["persistentVolumeClaim"]["claimName"], mount["mountPath"])
        if each["name"] == "penstock":
            assert not mount.get("readOnly", False)
            assert not volume["persistentVolumeClaim"].get("readOnly", False)
    assert {"penstock", "work"} <= set(claims)
    assert len(set(claims.values())) == 1


def test_secrets_are_named_and_never_written() -> None:
    assert [m for each in EVERY.values() for m in each if m["kind"] == "Secret"] == []
    secrets = {
        name: {volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
        for name, pod in PODS.items()
    }
    owners = {name for name, each in secrets.items() if "penstock-database-owner" in each}
    assert owners == {"penstock-init", "penstock-upgrade", "penstock-backup"}
    for name, pod in PODS.items():
        variables = {item["name"] for each in pod["containers"] for item in each.get("env", [])}
        assert (name in owners) == bool(OWNERS & variables)
    guide = (DEPLOY / "README.md").read_text()
    for secret in set().union(*secrets.values()):
        assert f"kubectl create secret {'tls' if 'tls' in secret else 'generic'} {secret}" in guide


def test_the_server_is_probed_replaced_and_reached() -> None:
    base = {(each["kind"], each["metadata"]["name"]): each for each in EVERY["base"]}
    server = base["Deployment", "penstock"]["spec"]
    labels = server["template"]["metadata"]["labels"]
    penstock, proxy = server["template"]["spec"]["containers"]
    probes = {name: penstock[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": "/healthz",
        "readiness": "/readyz",
    }
    ports = {port["name"]: port["containerPort"] for port in proxy["ports"]}
    assert {probe["port"] for probe in probes.values()} == {ports["https"]}
    service = base["Service", "penstock"]["spec"]
    assert {port["targetPort"] for port in service["ports"]} == set(ports)
    assert service["selector"].items() <= labels.items()
    disruption = base["PodDisruptionBudget", "penstock"]["spec"]
    assert disruption["selector"]["matchLabels"].items() <= labels.items()
    assert 0 < disruption["minAvailable"] < server["replicas"]
    assert server["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    policy = base["NetworkPolicy", "penstock"]["spec"]
    if kustomize():
        assert policy["podSelector"]["matchLabels"].items() <= labels.items()
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    entered = {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
    assert entered == set(ports.values())
    assert all(rule["from"] for rule in policy["ingress"])
    assert all(rule["to"] for rule in policy["egress"])
    site = (DEPLOY / "caddy/pod.caddy").read_text()
    assert all(f"\n:{port} {{" in site for port in ports.values())
