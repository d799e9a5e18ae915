"""Type what a page shows into a terminal.

The commands of ``penstock`` and ``penstock-client`` run in this process, which saves the start of a
program for each; everything else goes to a shell.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.contracts.running import free_port, running
from tests.docs.blocks import Block, shape_of

import penstock_client.command as client_program
from penstock.cli import program as server_program

ADDRESS = "127.0.0.1:8080"


@dataclass
class Terminal:
    """Hold a folder, what was printed last, and the servers that were started in it."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    stack: ExitStack
    environment: dict[str, str] = field(default_factory=dict)
    printed: str = ""

    def run(self, block: Block) -> None:
        """Do with a block what its kind says, and check what comes out."""
        if block.kind == "file":
            (self.folder / block.detail).write_text(block.content)
        elif block.kind == "serve":
            self._serve(block.content.strip())
        elif block.kind == "output":
            alike = shape_of if block.detail else str.strip
            assert alike(self.printed) == alike(block.content), self.printed
        elif block.kind != "illustration":
            assert block.language == "sh", f"who runs this?\n{block.content}"
            self.printed = "".join(self._lines(block.content))

    def _lines(self, content: str) -> Iterator[str]:
        command = ""
        for line in content.replace("\\\n", " ").splitlines():
            command += line
            if command.count("'") % 2 == 0:
                if command.strip() and not command.startswith("#"):
                    yield self._line(command)
                command = ""

    def _line(self, line: str) -> str:
        line = re.sub(r"\$\((penstock[^)]*)\)", lambda match: self._line(match[1]).strip(), line)
        if line.startswith("export "):
            for word in shlex.split(os.path.expandvars(line.replace("$PWD", str(self.folder))))[1:]:
                name, _, value = word.partition("=")
                os.environ[name] = value
            return ""
        command, _, target = line.partition(" > ")
        words = shlex.split(os.path.expandvars(command))
        if words[0] == "penstock":
            printed = self._called(server_program.run, words[1:])
        elif words[0] == "penstock-client":
            printed = self._called(client_program.run, words[1:])
        else:
            printed = self._shell(command)
        if target:
            (self.folder / target.strip()).write_text(printed)
            return ""
        return printed

    def _called(self, run: object, words: list[str]) -> str:
        assert callable(run)
        self.capture.readouterr()
        code = run(words)
        captured = self.capture.readouterr()
        assert code == 0, f"{words}: exit {code}\n{captured.out}{captured.err}"
        return captured.out

    def _shell(self, line: str) -> str:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/bash", "-euc", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _serve(self, line: str) -> None:
        port = free_port()
        command = [sys.executable, "-m", *shlex.split(line), "--port", str(port), "--workers", "1"]
        server = self.stack.enter_context(running(command, self.folder, {**os.environ}, port))
        os.environ["PENSTOCK_URL"] = server.url


@contextmanager
def terminal(
    folder: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Terminal]:
    """Yield a terminal in an empty folder, without any variable of ours."""
    kept = dict(os.environ)
    for name in list(os.environ):
        if name.startswith("PENSTOCK_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PENSTOCK_LOG_PATIENCE", "120")
    with ExitStack() as stack:
        yield Terminal(folder, capture, stack)
    os.environ.clear()
    os.environ.update(kept)
