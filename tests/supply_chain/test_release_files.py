"""Test what `make release` writes: wheels, notes, bill of materials, hashes and a signature."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.docs.blocks import blocks_of
from tests.supply_chain.making import make
from tests.support.places import ROOT

import penstock

PAGE = ROOT / "deploy/releases.md"

pytestmark = pytest.mark.slow


def key(path: Path) -> Path:
    """Make a private key without a password, and return where it is."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


def trust(folder: Path, public: str) -> None:
    """Write the file of those who may sign."""
    (folder / "signers").write_text(f"penstock {public}")


def checks(folder: Path) -> list[int]:
    """Type what the page says that readers type, and return the exit codes."""
    (block,) = blocks_of(PAGE)
    return [
        subprocess.run(["sh", "-c", line], cwd=folder, check=False, capture_output=True).returncode
        for line in block.content.splitlines()
    ]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release, with the signer's public key."""
    if not (ROOT / ".git").exists():
        pytest.skip("a release is made from a commit, and this is no checkout")
    folder = tmp_path_factory.mktemp("release")
    private = key(folder / "key")
    made = folder / "made"
    make("release", made, KEY=str(private))
    trust(made, private.with_suffix(".pub").read_text())
    return made


def test_the_page_lists_what_is_made_and_its_commands_accept_it(release: Path) -> None:
    files = {path.name for path in release.iterdir()} - {"signers"}
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    named = re.findall("`([^`]+)`", "".join(rows).replace("VERSION", penstock.__version__))
    assert files == set(named)
    assert checks(release) == [0, 0]
    hashed = {line.split()[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    assert hashed == files - {"SHA256SUMS", "SHA256SUMS.sig"}
    notes = (release / "NOTES.md").read_text()
    assert notes.startswith(f"## {penstock.__version__}")
    assert notes.count("\n## ") == 0


def test_whatever_is_altered_is_refused(release: Path, tmp_path: Path) -> None:
    for name in ("SHA256SUMS", "NOTES.md", "sbom.cdx.json"):
        content = (release / name).read_bytes()
        (release / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        accepted = checks(release)
        (release / name).write_bytes(content)
        assert any(accepted), name
    public = (release / "signers").read_text()
    trust(release, key(tmp_path / "stranger").with_suffix(".pub").read_text())
    assert checks(release)[0] != 0
    (release / "signers").write_text(public)
    assert checks(release) == [0, 0]
