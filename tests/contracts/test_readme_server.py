"""Test that the guide "Run a server" serves, typed as it stands there.

Every night with the wheels alone.

At every change it is the checkout's own installation, which compiles nothing again; that the
wheels suffice for a server is what ``test_from_an_empty_folder`` shows.  Two things differ:
the home is a temporary folder, and the port is one that is free.
"""

import json
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.api.world import DATASET
from tests.contracts.distributions import Installation
from tests.contracts.office import CHECKPOINTS
from tests.contracts.running import Running, free_port, running
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

HOME = "/srv/penstock"
URL, TOKEN = "http://127.0.0.1:8080", "pst_..."


def shown(language: str) -> list[str]:
    """Return the section's blocks in a language, from the top."""
    text = (ROOT / "server/docs/pages/guides/run-a-server.md").read_text()
    section = re.search(r"^## Commands\n(.*?)(?=^## )", text, re.M | re.S)
    assert section is not None
    return re.findall(rf"^```{language}\n(.*?)^```", section[1], re.M | re.S)


@dataclass(frozen=True)
class Terminal:
    """Run a shell on the server's machine, in which the README's home is set."""

    installation: Installation
    folder: Path
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """Return the commands' environment: the port is any free one, as they do not name it."""
        return self.installation.environment(self.folder, PENSTOCK_PORT=str(self.port))

    def script(self, *lines: str) -> str:
        """Return lines behind those that name the home."""
        named = [line for line in shown("sh")[0].splitlines() if line.startswith("export ")]
        assert [line.split("=")[0] for line in named] == [
            "export PENSTOCK_HOME",
            "export PENSTOCK_DATA_FOLDER",
        ]
        return "\n".join(("set -e", *named, *lines)).replace(HOME, str(self.folder / "home"))

    def type(self, *lines: str) -> str:
        """Return what the lines print; each must succeed."""
        path = self.folder.with_name("script.sh")
        path.write_text(self.script(*lines))
        return self.installation.run(
            "/bin/sh", str(path), folder=self.folder, PENSTOCK_PORT=str(self.port)
        )


@pytest.fixture(params=["checkout", pytest.param("wheels", marks=pytest.mark.nightly)])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Terminal:
    """Return a terminal in an empty folder."""
    installed = (
        Installation(Path(sys.prefix))
        if request.param == "checkout"
        else request.getfixturevalue("installed")
    )
    folder = tmp_path / "empty"
    folder.mkdir()
    return Terminal(installed, folder, free_port())


@pytest.fixture
def server(terminal: Terminal) -> Iterator[Running]:
    """Yield the README's server, after everything that stands above ``penstock serve``."""
    lines = shown("sh")[0].splitlines()
    assert lines[-1].startswith("penstock serve ")
    printed = terminal.type(*lines[2:-1])
    assert re.search(r"^pst_\w{8}_[\w-]{43}_\w{8}\n\Z", printed, re.M)
    command = ["/bin/sh", "-c", terminal.script(f"exec {lines[-1]}")]
    with running(command, terminal.folder, terminal.environment, terminal.port) as started:
        yield started


def test_the_server_of_the_readme_answers_the_analyst_of_the_readme(
    terminal: Terminal, server: Running
) -> None:
    (data,), (dataset, query, pushed) = shown("csv"), shown("json")
    for file, content in (("visits.csv", data), ("dataset.json", dataset), ("query.json", query)):
        (terminal.folder / file).write_text(content)
    assert "\nrural " in terminal.type(*shown("sh")[1].splitlines())
    for file, content in (("sites.json", json.dumps(DATASET)), ("beds.json", pushed)):
        terminal.folder.with_name(file).write_text(content)
    terminal.type("penstock dataset register ../sites.json", "penstock query register ../beds.json")
    token = terminal.type("penstock token create ann").strip()

    analyst = shown("sh")[2]
    assert analyst.count(URL) == analyst.count(TOKEN) == 1
    printed = terminal.type(analyst.replace(URL, server.url).replace(TOKEN, token))
    assert "dataset visits, tier public" in printed
    for key in ("rural", "urban"):
        assert re.search(rf"^{key} +-?\d", printed, re.M), printed

    assert server.end(signal.SIGTERM) == 0
    # Read at the end: the first worker answers before the others have started.
    workers = re.search(r"--workers (\d+)", shown("sh")[0])
    assert workers is not None
    assert server.log.read_text().count("Booting worker") == int(workers[1])
    # The analyst's terminal keeps the log's checkpoint that it saw last, as its README says.
    files = [path for path in terminal.folder.rglob("*") if path.is_file()]
    kept = {str(path.relative_to(terminal.folder)) for path in files if "home" not in path.parts}
    kept -= {"visits.csv", "dataset.json", "query.json"}
    assert kept == {f".local/state/penstock/{name}" for name in CHECKPOINTS}
