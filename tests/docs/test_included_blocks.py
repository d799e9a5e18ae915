"""Test that every block of code of the included guides runs in a test, or says why it cannot.

Every line of `penstock` and `penstock-client` in them must be a command with options that exist.
"""

import re

import click
import pytest
from tests.contracts.deployments.deployment_files import known_command
from tests.support.places import ROOT

from docs.reference.included import PLACES
from penstock_client.command import commands as client_commands

README = "tests/client/test_readme.py"
R = "clients/r/README.md"
TYPESCRIPT = "clients/typescript/README.md"
PYTHON = "clients/python/README.md"
AUDITING = "clients/python/auditing.md"
WHERE = {
    (PYTHON, "# from your server"): "tests/api/clients/test_client_wheel.py",
    (PYTHON, "from penstock_client import Client"): README,
    (PYTHON, "figure = release.figure()"): README,
    (PYTHON, "frame = release.to_pandas()"): README,
    (PYTHON, "interval = release.interval(0.99)"): README,
    (PYTHON, "from penstock_client.derived import"): README,
    (PYTHON, "from penstock_client import case"): README,
    (PYTHON, "from penstock_client import Admin"): README,
    (PYTHON, "from penstock_client.lomas import Client"): README,
    (PYTHON, "from penstock_client import ClearanceTooLow"): README,
    (PYTHON, "with Client() as client:"): README,
    (PYTHON, "penstock-client datasets"): "tests/client/test_command.py",
    (R, "R CMD INSTALL"): "tests/api/clients/test_r.py",
    (R, "library(penstock)"): "tests/api/clients/test_same_numbers.py",
    (TYPESCRIPT, "npm ci --prefix CHECKOUT"): "tests/api/clients/test_typescript.py",
    (TYPESCRIPT, "import { Client, rows }"): "tests/api/clients/test_same_numbers.py",
    (TYPESCRIPT, "await client.call"): "tests/api/clients/test_typescript.py",
    (TYPESCRIPT, "npm ci --prefix clients"): "tests/api/clients/test_typescript.py",
    (AUDITING, "curl -sH"): "needs a server and an auditor's token",
    (AUDITING, "penstock-client audit watch"): "tests/client/_commands/test_audit_command.py",
    ("deploy/README.md", "python3 -m venv"): "tests/contracts/test_from_an_empty_folder.py",
    ("deploy/README.md", "useradd --system"): "needs root and a running systemd",
    ("deploy/README.md", "kubectl create secret"): "needs a Kubernetes cluster",
    ("deploy/README.md", "gunicorn -c"): "tests/api/served/test_serving.py",
    ("deploy/README.md", "pip install 'penstock[postgres]'"): "tests/unit/cli/home/test_working.py",
    ("deploy/README.md", "pip install 'penstock[report]'"): (
        "tests/api/http/reports/test_pdf_report.py"
    ),
    ("deploy/README.md", "penstock schedule preview"): "tests/unit/cli/data/test_schedules.py",
    ("deploy/README.md", "export PENSTOCK_WEBHOOK_URL"): "needs a receiver's address by https",
    ("deploy/README.md", "export PENSTOCK_WEBHOOK_EVENTS"): "tests/unit/test_settings.py",
    ("deploy/README.md", '{"at":'): "is a message, not a program",
    ("deploy/README.md", '{"act":'): "is a message, not a program",
    ("deploy/README.md", "Penstock-Delivery:"): "is a message, not a program",
    ("deploy/README.md", "pip install 'penstock[oidc]'"): "needs a provider's address by https",
    ("deploy/README.md", "scrape_configs:"): "is for Prometheus",
    ("deploy/README.md", "*/15 * * * * penstock"): "is for cron",
    ("deploy/README.md", "penstock audit acknowledge-clock"): "tests/unit/cli/home/test_audit.py",
    ("deploy/README.md", "ALTER SYSTEM"): "needs a standby of PostgreSQL",
    ("deploy/backups.md", "penstock backup /"): "tests/unit/cli/home/test_backup.py",
    ("deploy/backups.md", "penstock backup check"): "tests/unit/cli/home/test_backup.py",
    ("deploy/backups.md", "createdb"): "tests/unit/persistence/backups/test_postgresql_dump.py",
    ("deploy/keys.md", "export PENSTOCK_KEY_PROVIDER"): "needs a hardware module's library",
    ("deploy/upgrades.md", "penstock db upgrade"): "tests/unit/cli/home/test_home.py",
    ("deploy/sign-on.md", "pip install 'penstock[oidc]'"): "is one line of the guide above",
    ("deploy/sign-on.md", "compose/sso-secrets.sh"): "needs a docker daemon and two public names",
    ("deploy/sign-on.md", "PENSTOCK_OIDC_ISSUER=https://login.example"): "needs a Keycloak server",
    ("deploy/sign-on.md", "PENSTOCK_OIDC_ISSUER=https://login.micro"): "needs a tenant there",
    ("deploy/sign-on.md", "PENSTOCK_OIDC_ISSUER=https://accounts"): "needs a project there",
    (
        "deploy/sign-on.md",
        "PENSTOCK_OIDC_ISSUER=https://ORGANIZATION",
    ): "needs an organization there",
    ("deploy/releases.md", "make release"): "tests/supply_chain/test_release_files.py",
    ("deploy/releases.md", "ssh-keygen -Y verify"): "tests/supply_chain/test_release_files.py",
}
"""By page and how a block begins: the test that runs the same, or why nothing here can."""

_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> list[str]:
    """Return the blocks of a page's code: between fences, or four characters from the edge."""
    fenced = _FENCED.findall(text)
    lines, indented = _FENCED.sub("", text).splitlines(), list[list[str]]()
    for number, line in enumerate(lines):
        if not line.startswith("    "):
            continue
        begins = number == 0 or not lines[number - 1].startswith("    ")
        if begins and lines[number - 1].strip() and not lines[number - 1].startswith("#"):
            continue  # A paragraph of a list goes on.
        if begins:
            indented.append([])
        indented[-1].append(line.strip())
    return [*(each.strip() for each in fenced), *("\n".join(each) for each in indented)]


PAGES = {page: blocks((ROOT / page).read_text()) for page in PLACES}


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_block_has_a_test_or_a_reason(page: str) -> None:
    for block in PAGES[page]:
        named = [each for each in WHERE if each[0] == page and block.startswith(each[1])]
        assert named, f"{page}: who runs this? Add it to WHERE:\n{block}"


def test_the_table_names_blocks_and_tests_that_exist() -> None:
    for (page, start), place in WHERE.items():
        assert any(block.startswith(start) for block in PAGES[page]), (page, start)
        if place.endswith(".py"):
            assert (ROOT / place).is_file(), place
        else:
            assert len(place.split()) > 2, place


def commands_in(page: str) -> list[str]:
    """Return the commands of Penstock's programs that a page's blocks show."""
    shown = "\n".join(PAGES[page]).replace("\\\n", " ")
    lines = re.findall(r"(?m)^(?:\S*/)?(penstock(?:-client)? [a-z][^#|>;\n]*)", shown)
    return [line.replace("...", "").strip() for line in lines]


@pytest.mark.parametrize("page", sorted(page for page in PAGES if commands_in(page)))
def test_every_command_and_option_exists(page: str) -> None:
    for line in commands_in(page):
        program, _, words = line.partition(" ")
        if program == "penstock":
            assert known_command(words)
        else:
            _known_to_the_client(words)


def _known_to_the_client(line: str) -> None:
    command: click.Command = client_commands
    for word in line.split():
        if not isinstance(command, click.Group):
            break
        inner = command.get_command(click.Context(command), word)
        assert inner is not None, f"penstock-client {line}: there is no command {word}"
        command = inner
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in line.split() if word.startswith("--")} <= options, line


def test_a_block_or_command_that_nothing_knows_is_noticed() -> None:
    text = "# A\n\n    ls\n\n- a list\n    that goes on\n\n```sh\npenstock nothing\n```\n"
    assert blocks(text) == ["penstock nothing", "ls"]
    with pytest.raises(AssertionError, match="no command"):
        known_command("nothing")
    with pytest.raises(AssertionError):
        _known_to_the_client("datasets --colour")
