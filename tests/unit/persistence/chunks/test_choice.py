"""Test the choice of a place for chunks by the text of a setting."""

from pathlib import Path

import pytest

from penstock.errors import Unavailable
from penstock.persistence.chunks.bucket import BucketStore
from penstock.persistence.chunks.choice import chunk_store
from penstock.persistence.chunks.folder import FolderStore


def test_chunks_are_in_the_home_unless_a_folder_is_named(tmp_path: Path) -> None:
    own = chunk_store("", tmp_path)
    assert isinstance(own, FolderStore)
    assert own.folder == tmp_path / "chunks"
    other = chunk_store("/elsewhere/chunks", tmp_path)
    assert other.place == "/elsewhere/chunks"


def test_a_url_names_a_bucket(tmp_path: Path) -> None:
    pytest.importorskip("obstore")
    assert isinstance(chunk_store("memory:///", tmp_path), BucketStore)
    with pytest.raises(Unavailable, match="no bucket"):
        chunk_store("gopher://bucket/path", tmp_path)
