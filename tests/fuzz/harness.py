"""Fuzz targets: ``python -m tests.fuzz.harness FOLDER CASES TARGET...``.

Each target has a folder in ``FOLDER``, with its corpus, what libFuzzer printed (``log``), and the
input of a finding as ``crash-...``. The process ends with the number of targets with a finding.
"""

import os
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["penstock"]):
    from tests.fuzz.targets import BROKEN, TARGETS

SEED = 20_260_101


def fuzz(name: str, cases: str, folder: Path) -> None:
    """Make the corpus in ``folder``, and hand the process over to libFuzzer."""
    target = (TARGETS | BROKEN)[name]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(target.corpus):
        (corpus / str(number)).write_bytes(content)
    with (folder / "log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    options = [f"-runs={cases}", f"-seed={SEED}", "-rss_limit_mb=0", "-max_len=1024"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)], target.parse)
    atheris.Fuzz()


def main(folder: str, cases: str, *names: str) -> int:
    """Fuzz the named targets, and return how many have a finding."""
    findings = 0
    for name in names:
        # A fork for each: the instrumented modules are imported once.
        child = os.fork()
        if child == 0:
            fuzz(name, cases, Path(folder) / name)
        _, status = os.waitpid(child, 0)
        findings += status != 0
    return findings


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
