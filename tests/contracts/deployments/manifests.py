"""Read ``deploy/kubernetes``: by kustomize where it is installed, else file by file."""

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import yaml
from tests.contracts.deployments.deployment_files import DEPLOY

KUBERNETES: Final = DEPLOY / "kubernetes"

Manifest = dict[str, Any]


def kustomize() -> list[str] | None:
    """Return the words that resolve a kustomization; None where no program can."""
    if program := shutil.which("kustomize"):
        return [program, "build"]
    if program := shutil.which("kubectl"):
        return [program, "kustomize"]
    return None


def resolved(folder: Path, words: list[str]) -> list[Manifest]:
    """Return the manifests of a kustomization as kustomize makes them."""
    done = subprocess.run([*words, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def as_written(folder: Path) -> list[Manifest]:
    """Return the manifests that a kustomization names, unchanged; fails where a file is missing."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    manifests: list[Manifest] = []
    for name in kustomization.get("resources", []):
        path = folder / name
        if path.is_dir():
            manifests += as_written(path)
        else:
            manifests += yaml.safe_load_all(path.read_text())
    for name in kustomization.get("components", []):
        assert (folder / name / "kustomization.yaml").is_file(), name
    for generator in kustomization.get("configMapGenerator", []):
        for name in (*generator.get("envs", []), *generator.get("files", [])):
            assert (folder / name).is_file(), name
    return manifests


def pods(manifests: list[Manifest]) -> dict[str, Manifest]:
    """Return the specification of each pod, by the name of what makes it."""
    found = {}
    for manifest in manifests:
        spec = manifest.get("spec", {})
        if manifest["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            found[manifest["metadata"]["name"]] = spec["template"]["spec"]
    return found


def settings_of(manifests: list[Manifest]) -> dict[str, str]:
    """Return the settings that a resolved kustomization or the base's file gives to every pod."""
    for manifest in manifests:
        if (manifest["kind"], manifest["metadata"]["name"]) == ("ConfigMap", "penstock-settings"):
            data: dict[str, str] = manifest["data"]
            return data
    lines = (KUBERNETES / "base/settings.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line)
