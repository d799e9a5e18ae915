"""Provide the code of the version before the newest migration, out of git's history."""

import io
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.places import ROOT

README = Path(__file__).with_name("README.md")


@dataclass(frozen=True)
class EarlierCode:
    """Hold the folder with the code of an earlier version, and the schema that it needs."""

    folder: Path
    schema: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables under which Python imports that version."""
        return {"PYTHONPATH": str(self.folder / "server")}


def git(*words: str) -> "subprocess.CompletedProcess[bytes]":
    """Run git in the project."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)


def commit_of(schema: str, following: Path) -> str:
    """Return the last commit of a schema: the README's, or that before the next file was added."""
    named: dict[str, str] = dict(re.findall(r"(\d{4}) it is\s+([0-9a-f]{7,})", README.read_text()))
    if schema in named:
        return named[schema]
    words = ("log", "--diff-filter=A", "--format=%H", "-1", "--", str(following))
    added = git(*words).stdout.decode().strip()
    return f"{added}^" if added else "HEAD"


def before_the_newest_migration(folder: Path) -> EarlierCode:
    """Unpack the code into ``folder``; skips where the history does not reach that far."""
    *_, last, newest = sorted((ROOT / "migrations/versions").glob("[0-9]*.py"))
    schema = last.name[:4]
    commit = commit_of(schema, newest)
    archive = git("archive", "--format=tar", commit, "server", "migrations", "deploy")
    if archive.returncode != 0:
        pytest.skip(f"the history here does not have {commit}, the last commit of schema {schema}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as content:
        for member in filter(tarfile.TarInfo.isfile, content):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.extractfile(member).read())  # type: ignore[union-attr]
    needed = (folder / "server/penstock/persistence/migrate.py").read_text()
    assert f'NEWEST: Final = "{schema}"' in needed, (
        f"{commit} is not the last commit of schema {schema}: name that one in {README}"
    )
    return EarlierCode(folder, schema)
