"""Test that each parser meets any bytes with a value or an error of Penstock's own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.targets import BROKEN, TARGETS
from tests.support.places import ROOT

CASES = int(os.environ.get("FUZZ_CASES", "1000"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Run the harness over all targets and the broken one; return its folder and exit status."""
    folder = tmp_path_factory.mktemp("fuzz")
    names = [*TARGETS, *BROKEN]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.harness", str(folder), str(CASES), *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        check=False,
    )
    return folder, done.returncode


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_refuses_any_bytes_by_an_error_of_penstocks_own(
    name: str, ran: tuple[Path, int]
) -> None:
    folder = ran[0] / name
    log = (folder / "log").read_text(errors="replace")
    assert [file.read_bytes() for file in folder.glob("crash-*")] == [], log
    (done,) = re.findall(r"(?m)^Done (\d+) runs", log)
    assert int(done) >= CASES, log


def test_the_harness_reports_a_parser_that_lets_another_error_out(ran: tuple[Path, int]) -> None:
    (name,) = BROKEN
    assert ran[1] == len(BROKEN)
    assert "JSONDecodeError" in (ran[0] / name / "log").read_text(errors="replace")
    (finding,) = (ran[0] / name).glob("crash-*")
    with pytest.raises(ValueError, match=r"JSON|Expecting|decode|Extra"):
        BROKEN[name].parse(finding.read_bytes())
