"""Test ``deploy/Dockerfile`` by hadolint's rules, by ours, and by building it where docker runs."""

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest
from tests.contracts.deployments.deployment_files import DEPLOY, program
from tests.contracts.deployments.dockerfile import PATH, container, instructions, last_stage
from tests.support.places import ROOT

TEXT = PATH.read_text()
STAGES = [each.rest for each in instructions(TEXT) if each.verb == "FROM"]


def findings(path: Path) -> set[str]:
    """Return the rules that hadolint finds broken in a Dockerfile."""
    command = [program("hadolint", "it comes with the development extra"), "--format", "tty"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    return set(re.findall(r"\b((?:DL|SC)\d{4})\b", done.stdout))


def test_hadolint_finds_nothing() -> None:
    assert findings(PATH) == set()


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("DL3006", "FROM python:3.11.13-slim-bookworm\n", "FROM python\n"),
        ("DL3007", "FROM python:3.11.13-slim-bookworm\n", "FROM python:latest\n"),
        ("DL3002", "USER 10001:10001", "USER root"),
        ("DL3015", "--no-install-recommends ", ""),
        ("DL3009", " \\\n    && rm -rf /var/lib/apt/lists/*", ""),
        ("DL3008", "# hadolint ignore=DL3008\n", ""),
        ("DL3000", "WORKDIR /var/lib/penstock", "WORKDIR penstock"),
        ("DL3020", "COPY server server", "ADD server server"),
        ("DL3025", 'ENTRYPOINT ["penstock"]', "ENTRYPOINT penstock"),
        ("DL4006", 'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\n', ""),
    ],
)
def test_hadolint_finds_a_mistake(rule: str, before: str, after: str, tmp_path: Path) -> None:
    assert before in TEXT
    broken = TEXT.replace(before, after)
    if rule == "DL4006":
        broken = broken.replace("sha256sum /dist/*.whl |", "true | sha256sum /dist/*.whl |")
    (tmp_path / "Dockerfile").write_text(broken)
    assert rule in findings(tmp_path / "Dockerfile")


def test_pip_checks_hashes_and_keeps_no_cache() -> None:
    """As hadolint's DL3042, which does not know a pip by its path."""
    runs = [each.rest for each in instructions(TEXT) if each.verb == "RUN"]
    commands = [line for run in runs for line in run.split(" && ") if re.search(r"bin/pip ", line)]
    assert len(commands) == 3
    assert all("--no-cache-dir" in line for line in commands)
    installing = [line for line in commands if " install " in line]
    assert len(installing) == 2
    assert all("--require-hashes --constraint requirements.lock" in line for line in installing)


def test_the_image_is_made_of_two_stages_of_one_base() -> None:
    assert [stage.partition(" AS ")[2] for stage in STAGES] == ["build", ""]
    bases = {stage.partition(" AS ")[0] for stage in STAGES}
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-bookworm", bases.pop())


def test_a_container_is_not_root_and_says_whether_it_is_well() -> None:
    image = container()
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", image.account)
    assert image.command == ["penstock", "serve"]
    assert "/healthz" in image.health[-1]
    account = next(e.rest for e in last_stage(TEXT) if e.verb == "RUN" and "useradd" in e.rest)
    uid, gid = image.account.split(":")
    assert f"--gid {gid} penstock" in account
    assert f"--uid {uid} --gid {gid}" in account
    for name, folder in image.environment.items():
        if folder.startswith("/var/lib"):
            assert re.search(rf"{folder}( |$)", account), f"{name} is made by nobody"


def test_what_is_copied_exists_and_gets_into_the_build() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    rules = [rule for rule in ignored if rule and not rule.startswith("#")]
    assert rules[0] == "*"
    let_in = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    copied = set()
    for each in instructions(TEXT):
        if each.verb == "COPY" and "--from" not in each.rest:
            copied.update(each.rest.split()[:-1])
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    assert copied == let_in


def test_nothing_that_the_wheel_includes_is_missing_in_the_build() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    included = re.findall(r'^"([^"]+)" = "penstock/', project, re.M)
    named = re.findall(r'^(?:readme = |license-files = \[)"([^"]+)"', project, re.M)
    let_in = [
        line.removeprefix("!")
        for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    for name in (*included, *named, "pyproject.toml", "server/penstock"):
        assert any(fnmatch.fnmatch(name, rule) or name.startswith(f"{rule}/") for rule in let_in), (
            name
        )


def test_docker_builds_the_image_and_the_container_is_well(tmp_path: Path) -> None:
    """Where a docker daemon runs; elsewhere ``test_container.py`` runs the same command."""
    docker = program("docker", "any docker client") if _has_daemon() else pytest.skip("no daemon")
    tag = f"penstock-test-{tmp_path.name.replace('_', '-')}"
    build = [docker, "build", "--file", str(PATH), "--tag", tag, str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    try:
        run = [docker, "run", "--rm", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", tag]
        done = subprocess.run([*run, "--version"], check=True, capture_output=True, text=True)
        assert "penstock" in done.stdout.lower()
    finally:
        subprocess.run([docker, "image", "rm", "--force", tag], check=False, capture_output=True)


def _has_daemon() -> bool:
    try:
        return subprocess.run(["docker", "info"], check=False, capture_output=True).returncode == 0
    except OSError:
        return False
