"""Provide a folder that holds a test's data files."""

from pathlib import Path

import pytest
from tests.unit.connectors.cases import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return an empty folder for data files."""
    return Folder(tmp_path)
