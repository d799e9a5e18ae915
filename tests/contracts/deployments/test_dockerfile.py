"""Test ``deploy/Dockerfile`` by hadolint's rules, by ours, and by building it where docker runs."""

import fnmatch
import re
import shutil
import subprocess
import sys
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
    assert len(commands) == 4
    assert all("--no-cache-dir" in line for line in commands)
    installing = [line for line in commands if " install " in line]
    assert len(installing) == 3
    assert all("--require-hashes" in line for line in installing)


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


@pytest.mark.nightly
def test_the_first_stage_builds_the_program(tmp_path: Path) -> None:
    """Run its instructions in folders of this test's own, on what git tracks."""
    work = tmp_path / "build"
    for folder in (work, tmp_path / "opt"):
        folder.mkdir()
    stage, *_ = TEXT.partition("\nFROM python")[2].partition("\nFROM python")
    for each in instructions(f"FROM python{stage}"):
        if each.verb == "COPY":
            *names, _ = each.rest.split()
            copy_tracked(names, work)
        elif each.verb == "RUN":
            run_moved(each.rest, tmp_path)
    program = tmp_path / "opt/penstock/bin/penstock"
    assert subprocess.run([program, "--version"], check=True, capture_output=True).stdout
    (site,) = (tmp_path / "opt/penstock/lib").glob("python3*/site-packages/penstock/site")
    assert (site / "index.html").is_file()
    assert not program.with_name("pip").exists()


def copy_tracked(names: list[str], work: Path) -> None:
    """Copy what git tracks below names, as COPY does in a fresh clone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *names], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, work / name)


def run_moved(command: str, folder: Path) -> None:
    """Run a command by the Python of this environment, with /opt and /dist below a folder."""
    python = str(Path(sys.executable).resolve())
    moved = re.sub("(^|&& )python ", rf"\1{python} ", command)
    moved = moved.replace("/opt/", f"{folder}/opt/").replace("/dist", f"{folder}/dist")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", moved],
        cwd=folder / "build",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (moved, done.stdout[-2000:], done.stderr[-2000:])


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
