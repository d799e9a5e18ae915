"""Test a newcomer's first day, from the installed wheels alone: from nothing to a killed server."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts.distributions import Installation
from tests.contracts.office import CHECKPOINTS, Office, assert_near_the_exact_values
from tests.contracts.running import Running, free_port, running

pytestmark = pytest.mark.slow

# All that a server may leave behind where it ran, beside SQLite's own files.
DATABASE = "penstock-home/database/penstock.db"
HOME = {
    "penstock-home",
    *(f"penstock-home/{name}" for name in ("database", "keys", "witness")),
    *(f"penstock-home/keys/{name}" for name in ("keyring.json", "secrets.json")),
    "penstock-home/witness/log.json",
}
CLIENT = ".local"
"""Where clients keep the log's checkpoints that they saw."""

ASK_IN_PYTHON = """
import json
from penstock_client import Client
with Client() as client:
    release = client.release("visits")
print(json.dumps(dict(release.answer)))
"""


def ask(client: Installation, server: Running, token: str, *options: str) -> dict[str, Any]:
    """Make one release with the program ``penstock-client``, in a folder with nothing in it."""
    desk = server.folder.with_name("desk")
    desk.mkdir(exist_ok=True)
    printed = client.run(
        *("penstock-client", "--format", "json", "release", "visits", *options),
        folder=desk,
        PENSTOCK_URL=server.url,
        PENSTOCK_TOKEN=token,
    )
    # What the client leaves is the log's checkpoint that it saw last, as its README says.
    left = {str(path.relative_to(desk)) for path in desk.rglob("*") if path.is_file()}
    assert left == {f".local/state/penstock/{name}" for name in CHECKPOINTS}
    answer: dict[str, Any] = json.loads(printed)
    return answer


def ask_in_python(client: Installation, server: Running, token: str) -> dict[str, Any]:
    """Make one release with ``penstock_client``; -I: only installed packages are imported."""
    printed = client.run(
        *("python", "-I", "-c", ASK_IN_PYTHON),
        folder=server.folder,
        PENSTOCK_URL=server.url,
        PENSTOCK_TOKEN=token,
    )
    answer: dict[str, Any] = json.loads(printed)
    return answer


def handed_out(client: Installation, server: Running, token: str) -> list[tuple[str, str]]:
    printed = client.run(
        *("penstock-client", "--format", "json", "history"),
        folder=server.folder,
        PENSTOCK_URL=server.url,
        PENSTOCK_TOKEN=token,
    )
    return [(item["id"], item["tier"]) for item in json.loads(printed)]


def test_an_empty_folder_becomes_a_server_that_survives_being_killed(
    installed: Installation, client_alone: Installation, tmp_path: Path
) -> None:
    office = Office(installed, tmp_path / "empty")
    office.folder.mkdir()
    office.type("init")
    port = free_port()
    command = ["penstock", "serve", "--workers", "2", "--port", str(port)]
    with running(
        [str(installed.programs / command[0]), *command[1:]],
        office.folder,
        installed.environment(office.folder),
        port,
    ) as server:
        assert server.log.read_text().count("Booting worker") == 2
        office.open(server.url)
        ann = office.tokens["ann"]

        public = ask(installed, server, ann)
        assert_near_the_exact_values(public)
        assert public["tier"] == "public"
        assert ask(client_alone, server, ann) == public
        assert ask_in_python(installed, server, ann) == public
        assert ask_in_python(client_alone, server, ann) == public

        office.type("user", "set-clearance", "ann", "internal")
        internal = ask_in_python(client_alone, server, ann)
        assert_near_the_exact_values(internal)
        assert internal["tier"] == "internal"
        assert internal["level"]["value"] < public["level"]["value"]
        assert ask(client_alone, server, ann, "--tier", "public") == public

        assert_it_survives_being_killed(office, server, client_alone, public, internal)
        assert server.end(signal.SIGTERM) == 0
    office.type("status")
    assert {path.name for path in office.folder.iterdir()} == {"penstock-home", CLIENT}
    log = server.log.read_text()
    assert "Traceback" not in log
    assert not [name for name, token in office.tokens.items() if token in log]


def assert_it_survives_being_killed(
    office: Office,
    server: Running,
    client: Installation,
    public: dict[str, Any],
    internal: dict[str, Any],
) -> None:
    """Kill all its processes at once, then run the same command in the folder as it was left."""
    ann, olga = office.tokens["ann"], office.tokens["olga"]
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{server.url}/healthz")
    left = {str(path.relative_to(office.folder)) for path in office.folder.rglob("*")}
    assert {path for path in left if not path.startswith((DATABASE, CLIENT))} == HOME
    server.start()
    assert ask(client, server, ann) == internal
    assert ask(client, server, ann, "--tier", "public") == public
    between = ask(client, server, ann, "--epsilon", "0.2")
    assert internal["level"]["value"] < between["level"]["value"] < public["level"]["value"]
    held = [(answer["id"], answer["tier"]) for answer in (public, internal, between)]
    assert handed_out(client, server, ann) == handed_out(client, server, olga) == held


def test_a_second_init_changes_nothing(installed: Installation, tmp_path: Path) -> None:
    office = Office(installed, tmp_path)
    office.type("init")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again = installed.done("penstock", "init", folder=tmp_path)
    assert (again.returncode, again.stdout) == (1, "")
    assert "There is a home already" in again.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.nightly
def test_the_demo_tells_its_story_in_an_empty_folder(
    installed: Installation, tmp_path: Path
) -> None:
    story = installed.run("penstock", "demo", "--no-serve", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["penstock-demo"]
    shipped = {path.name for path in (tmp_path / "penstock-demo" / "data").iterdir()}
    assert {"ORIGIN.md", "LICENSE-statsmodels.txt"} < shipped
    for reader in ("rosa", "lossless"):
        assert reader in story


@pytest.mark.nightly
def test_the_demo_tells_the_same_story_again_in_json(
    installed: Installation, tmp_path: Path
) -> None:
    story = installed.run("penstock", "demo", "--no-serve", folder=tmp_path)
    # The home stands now, so this is the same story, with the numbers unrounded.
    told = json.loads(
        installed.run("penstock", "demo", "--no-serve", "--format", "json", folder=tmp_path)
    )
    for seen in told["seen"]:
        (value,), tier = seen["release"]["values"], seen["release"]["tier"]
        assert re.search(rf"^  {seen['reader']} +{tier} .* {value:,.1f} ", story, re.M)
    released, independent, best = (
        told["together"][name]["epsilon"] for name in ("released", "independent", "best")
    )
    assert released == best
    assert independent > released
    for epsilon in (released, independent):
        assert f" {epsilon:.2f} " in story
