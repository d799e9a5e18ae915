"""Test what the linter's list of banned names cannot see: noise drawn anywhere else."""

import ast
from pathlib import Path

import pytest
from tests.support.places import ROOT

SERVER = ROOT / "server" / "penstock"
RANDOMNESS = SERVER / "randomness"
ALLOWED_FROM_NUMPY = {"Generator"}
MADE_UP = {
    SERVER / "connectors" / "dummy.py": "a stream of a known key",
    SERVER / "services" / "synthetic_rows" / "model.py": "np.random",
    SERVER / "experiments" / "draws.py": "a stream of a known key",
}
"""Make rows of a declaration or a release, and the points of figures, the same for the same seed;
nothing in them is noise that protects anybody."""

BANNED_MODULES = {"random", "randomgen", "numpy.random", "scipy.stats"}


def _imports(tree: ast.AST) -> list[tuple[str, str]]:
    """Return pairs of a module and the name taken from it, empty for the module itself."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.module, alias.name) for alias in node.names]
    return found


def _misuses(source: str, *, in_randomness: bool) -> list[str]:
    tree = ast.parse(source)
    found = []
    for module, name in _imports(tree):
        if in_randomness and (
            (module == "numpy.random" and name in ALLOWED_FROM_NUMPY) or module == "randomgen"
        ):
            continue
        if module in BANNED_MODULES or f"{module}.{name}" in BANNED_MODULES:
            found.append(f"import of {module} {name}".rstrip())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if node.attr == "random" and owner in {"np", "numpy"}:
                found.append(f"{owner}.random")
            if node.attr == "rvs":
                found.append("scipy's rvs")
            if node.attr == "from_key" and owner.endswith("Stream"):
                found.append("a stream of a known key")
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import random\nrandom.gauss(0, 1)",
        "from numpy import random",
        "from numpy.random import normal",
        "import numpy.random as noise",
        "import numpy as np\nnp.random.normal()",
        "import numpy\nnumpy.random.Generator(bits).normal()",
        "from randomgen import AESCounter",
        "from scipy import stats",
        "import scipy\nscipy.stats.norm.rvs()",
        "stream = Stream.from_key(bytes(32))",
        "stream = randomness.Stream.from_key(bytes(32))",
    ],
)
def test_noise_from_elsewhere_is_found(source: str) -> None:
    assert _misuses(source, in_randomness=False)


def test_numpys_generator_is_allowed_in_randomness_alone() -> None:
    source = "from numpy.random import Generator\nfrom randomgen import ChaCha"
    assert not _misuses(source, in_randomness=True)
    assert _misuses(source, in_randomness=False)
    assert _misuses("from numpy.random import PCG64", in_randomness=True)


def test_noise_comes_from_the_randomness_package_alone() -> None:
    files = sorted(set(SERVER.rglob("*.py")) - set(MADE_UP))
    assert RANDOMNESS / "stream.py" in files
    misuses = {
        str(file.relative_to(SERVER)): found
        for file in files
        if (
            found := _misuses(
                file.read_text(encoding="utf-8"), in_randomness=RANDOMNESS in file.parents
            )
        )
    }
    assert not misuses


@pytest.mark.parametrize("file", MADE_UP, ids=lambda file: file.stem)
def test_what_is_made_up_takes_a_known_key_and_nothing_else(file: Path) -> None:
    assert _misuses(file.read_text(encoding="utf-8"), in_randomness=False) == [MADE_UP[file]]
