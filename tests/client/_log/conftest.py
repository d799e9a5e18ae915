"""Provide a client of a server with a log, and the file of its checkpoints."""

from pathlib import Path

import pytest
from tests.client.servers.hosts import Host, session

from penstock_client import Client


@pytest.fixture
def client(host: Host) -> Client:
    return session(host)


@pytest.fixture(autouse=True)
def memory_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the file of checkpoints that clients of a test share."""
    file = tmp_path / "checkpoints.json"
    monkeypatch.setenv("PENSTOCK_CHECKPOINTS", str(file))
    return file
