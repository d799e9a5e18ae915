"""Ask OpenDP in its own interpreter, and find the data sets that are installed there."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.utility.penstock_side import DELTA
from tests.benchmarks.utility.studies import STUDIES, Study

ROOT = Path(__file__).parents[3]
PYTHON = Path(os.environ.get("PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))
"""The interpreter that has OpenDP and the data sets: OpenDP needs an older mbi than Penstock."""

MISSING = (
    "{what} is not installed for {python}. Run `make .venv-peers/.installed`, or name in"
    " PEERS_PYTHON an interpreter that has opendp[mbi,scikit-learn] 0.16, plotnine and statsmodels."
)
_FOLDER = "import importlib.util as u, sys; print(u.find_spec(sys.argv[1]).origin)"
_SCRIPT = Path(__file__).with_name("opendp_side.py")


def studies() -> list[Study]:
    """Return the data sets, from where they are installed.  Raises ``ModuleNotFoundError``."""
    return [read(Path(_folder(package)).parent) for package, read in STUDIES.items()]


def require_opendp() -> None:
    """Raise ``ModuleNotFoundError`` unless OpenDP is installed there."""
    _folder("opendp")


def answers(
    kind: str,
    study: Study,
    epsilon: float,
    ratios: Sequence[float],
    runs: int,
    seconds: float,
    *,
    only: Sequence[int] = (),
) -> list[list[Any]] | None:
    """Return what OpenDP releases of a statistic, by tier and run; None after that many seconds.

    ``kind`` is "median", "slope" (Theil-Sen), "sums" (a slope from noisy sums), "mst" or "aim".
    Of several tiers, the last two release only those in ``only``, if there are any: each release
    takes minutes, and depends on its part of the budget alone.
    """
    document = {
        "kind": "marginals" if kind in ("mst", "aim") else kind,
        "algorithm": kind,
        "epsilon": epsilon,
        "delta": DELTA,
        "ratios": list(ratios),
        "runs": runs,
        "only": list(only),
        **_data(kind, study),
    }
    try:
        done = subprocess.run(
            [PYTHON, _SCRIPT],
            input=json.dumps(document),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(f"OpenDP's {kind} ended with an error:\n{done.stderr}")
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def _data(kind: str, study: Study) -> dict[str, Any]:
    if kind == "median":
        values = study.columns[study.median_of].tolist()
        return {"values": values, "candidates": study.edges().tolist()}
    if kind in ("slope", "sums"):
        return {
            "predictor": study.columns[study.predictor].tolist(),
            "outcome": study.columns[study.outcome].tolist(),
            "predictor_bounds": study.bounds[study.predictor],
            "outcome_bounds": study.bounds[study.outcome],
            "fractions": study.fractions,
        }
    codes = {name: codes.tolist() for name, codes in study.codes.items()}
    return {"codes": codes, "sizes": study.sizes}


def _folder(package: str) -> str:
    problem = ModuleNotFoundError(MISSING.format(what=package, python=PYTHON))
    if not PYTHON.exists():
        raise problem
    words = [str(PYTHON), "-c", _FOLDER, package]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise problem
    return done.stdout.strip()
