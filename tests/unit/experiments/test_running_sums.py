"""Test the papers' figures on structures.

Known values, and what is committed against recomputing.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks.noise import paper_figures
from tests.benchmarks.noise.paper_figures import NOISE, drawing_of

from penstock.experiments import correlated, running_sums
from penstock.experiments.catalog import EXPERIMENTS
from penstock.structures import KaryTree
from penstock.structures.streams.choice import best_tree, mean_squared_error

REMADE = "run: python -m tests.benchmarks trees correlated, and put the tables into noise.md"
SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = ("trees", "smooth", "crossover", "correlated")
TABLES = {
    "errors": running_sums.errors_table,
    "smooth": running_sums.smooth_table,
    "crossover": running_sums.crossover_table,
    "correlated": correlated.variances_table,
    "sparse": correlated.sparse_table,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWINGS)
def test_the_committed_drawing_is_the_recomputed_one(name: str) -> None:
    committed, made = drawing_of(name).read_text(), EXPERIMENTS[name].draw().svg
    assert made is not None
    numbers = re.compile(r"-?\d+\.?\d*")
    assert numbers.sub("n", committed) == numbers.sub("n", made), REMADE
    # Coordinates are rounded to a tenth, on which another machine's logarithm may fall otherwise.
    shown, wanted = (np.array(numbers.findall(text), dtype=float) for text in (committed, made))
    assert np.allclose(shown, wanted, rtol=2e-3, atol=0.11), REMADE


@pytest.mark.parametrize("name", list(TABLES))
def test_the_committed_table_is_the_recomputed_one(name: str) -> None:
    assert TABLES[name]() in NOISE.read_text(), REMADE


def test_crossovers_have_their_known_values() -> None:
    for length, k, leading, bound, exact, small in [
        (2**10, 19, 2.1799e-3, 7.7943e-3, 2.0421e-7, 1.3094e-8),
        (2**10, 13, 2.1799e-3, 1.6283e-2, 1.1332e-6, 7.2724e-8),
        (2**16, 20, 4.8365e-5, 5.9603e-4, 6.7514e-10, 4.3212e-11),
        (2**20, 19, 3.8188e-6, 5.3560e-5, 3.6524e-12, 2.3357e-13),
    ]:
        error = float(mean_squared_error(KaryTree(length, k), pure=True))
        assert running_sums.leading_crossover(length) == pytest.approx(leading, rel=1e-4)
        assert running_sums.bound_crossover(length, error) == pytest.approx(bound, rel=1e-4)
        assert running_sums.honest_crossover(length, error, 1.0) == pytest.approx(exact, rel=1e-4)
        assert running_sums.honest_crossover(length, error, 0.1) == pytest.approx(small, rel=1e-4)


def test_at_the_crossover_gaussian_noise_has_the_error_of_the_tree() -> None:
    from penstock.mechanisms.gaussian.curve import mu_at
    from penstock.structures.factorization.square_root import square_root

    error = float(mean_squared_error(best_tree(60, pure=True), pure=True))
    delta = running_sums.honest_crossover(60, error, 1.0)
    pair = square_root(60)
    node = float(pair.sensitivity.l2_squared) / mu_at(1.0, delta) ** 2
    assert pair.variances(node).mean() == pytest.approx(error, rel=1e-4)


@pytest.mark.nightly
def test_a_run_prints_its_tables_and_draws(tmp_path: Path) -> None:
    said: list[str] = []
    paper_figures.measure_trees(said.append, tmp_path)
    paper_figures.measure_correlated(said.append, tmp_path)
    assert len(said) == 4
    for name in DRAWINGS:
        root = ET.parse(tmp_path / f"{name}.svg").getroot()  # noqa: S314 - our own file
        assert root.get("role") == "img"
        named = {child.get("id"): child.text for child in root if child.get("id")}
        assert (root.get("aria-labelledby") or "").split() == list(named)
        assert all(named.values())
        assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
