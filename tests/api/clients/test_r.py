"""Test the R client: its own tests against this server, its manual, and every night its check."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.api.clients.conftest import Need, missing
from tests.api.world import World
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "clients/r"
PACKAGES = "r-base-core r-cran-httr2 r-cran-tibble r-cran-testthat"
LIBRARIES = 'for (name in c("httr2", "tibble", "testthat")) loadNamespace(name)'
TESTS = """
undocumented <- tools::undoc("penstock")[["code objects"]]
differs <- list(tools::codoc("penstock"), undocumented, tools::checkDocFiles("penstock"))
differs <- Filter(function(check) length(check) > 0, differs)
if (length(differs) > 0) stop(paste(capture.output(print(differs)), collapse = "\\n"))
folder <- file.path(Sys.getenv("FOLDER"), "tests/testthat")
testthat::test_dir(folder, package = "penstock", load_package = "installed", reporter = "check")
"""
FAST = {
    # What needs the network, a dictionary or LaTeX, and what other people's sites ask for.
    "_R_CHECK_FORCE_SUGGESTS_": "false",
    "_R_CHECK_CRAN_INCOMING_": "false",
    "_R_CHECK_SYSTEM_CLOCK_": "0",
    "LC_ALL": "C.UTF-8",
}


def run(folder: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **FAST, **variables}
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


@pytest.fixture(scope="module")
def r(need: Need) -> str:
    found = need("R", f"apt-get install {PACKAGES}")
    if run(ROOT, "Rscript", "-e", LIBRARIES).returncode != 0:
        missing(f"R's packages are not installed (apt-get install {PACKAGES})")
    return found


@pytest.fixture
def served(address: str, world: World) -> dict[str, str]:
    """Return the variables by which the package's own tests reach this server."""
    return {"PENSTOCK_URL": address, "PENSTOCK_TEST_TOKENS": json.dumps(world.tokens)}


def test_its_own_tests_pass_against_this_server(
    r: str, served: dict[str, str], tmp_path: Path
) -> None:
    """It is installed first, with its manual, and the manual is held to the functions."""
    done = run(tmp_path, r, "CMD", "INSTALL", "--no-test-load", "-l", tmp_path, FOLDER)
    assert done.returncode == 0, done.stderr
    tests = run(
        tmp_path, "Rscript", "-e", TESTS, R_LIBS=str(tmp_path), FOLDER=str(FOLDER), **served
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert "SKIP 0 |" in tests.stdout, tests.stdout


@pytest.mark.nightly
def test_the_package_passes_its_check(r: str, served: dict[str, str], tmp_path: Path) -> None:
    built = run(tmp_path, r, "CMD", "build", FOLDER)
    assert built.returncode == 0, built.stdout + built.stderr
    (package,) = tmp_path.glob("penstock_*.tar.gz")
    done = run(tmp_path, r, "CMD", "check", "--no-manual", package.name, **served)
    folder = tmp_path / "penstock.Rcheck"
    tests = "".join(path.read_text() for path in folder.glob("tests/testthat.Rout*"))
    assert done.returncode == 0, done.stdout + tests
    assert "Status: OK" in done.stdout, done.stdout
    assert "FAIL 0 | WARN 0 | SKIP 0" in tests, tests


def test_a_page_of_the_manual_describes_every_function() -> None:
    exported = {
        line.removeprefix("export(").removesuffix(")")
        for line in (FOLDER / "NAMESPACE").read_text().splitlines()
        if line.startswith("export(")
    }
    pages = {path.stem for path in (FOLDER / "man").glob("*.Rd")}
    assert pages == exported | {"penstock-package"}
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
