"""Test that pip installs the client from a running server, into an environment of its own."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from hatchling.builders.wheel import WheelBuilder
from tests.support.places import ROOT

import penstock_client
from penstock.web.http import client_wheel

pytestmark = pytest.mark.slow

WHERE = "import penstock_client as client; print(client.__version__, client.__file__)"
NAME = f"penstock_client-{penstock_client.__version__}-py3-none-any.whl"


@pytest.fixture(autouse=True)
def _built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "wheels"
    client = str(ROOT / "clients/python")
    list(WheelBuilder(client).build(directory=str(folder), versions=["standard"]))
    monkeypatch.setattr(client_wheel, "FOLDER", folder)


def run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pip_installs_the_client_from_the_server(address: str, tmp_path: Path) -> None:
    """What the client needs only an index has: it is left out, and lent for the import."""
    made = tmp_path / "environment"
    run(sys.executable, "-I", "-m", "venv", "--without-pip", made)
    python = made / "bin/python"
    pip = (
        sys.executable,
        "-I",
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--isolated",
    )
    page = httpx.get(f"{address}/clients/").text
    assert NAME in page
    options = ("--no-deps", "--no-index", "--disable-pip-version-check")
    run(*pip, *options, f"{address}/clients/{NAME}")
    lent = str(Path(httpx.__file__).parents[1])
    script = f"import sys; sys.path.append({lent!r}); {WHERE}"
    version, place = run(python, "-I", "-c", script).split()
    assert version == penstock_client.__version__
    assert Path(place).is_relative_to(made)
    run(
        *pip,
        *options,
        "--force-reinstall",
        "--find-links",
        f"{address}/clients/",
        "penstock-client",
    )
