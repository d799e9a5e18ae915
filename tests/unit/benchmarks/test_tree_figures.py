"""Test the papers' figures on structures.

Known values, and what is committed against recomputing.
"""

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks.drawing.line_chart import Line, Panel, drawing
from tests.benchmarks.noise import correlated
from tests.benchmarks.running_sums import streams, trees
from tests.oracles.correlated import disjoint

from penstock.privacy import NeighboringRelation
from penstock.structures import KaryTree, smooth_binary
from penstock.structures.streams.choice import best_tree, mean_squared_error

REMADE = "run: python -m tests.benchmarks trees correlated, and put the tables into noise.md"
SVG = "{http://www.w3.org/2000/svg}"
DRAWINGS = {
    trees.TREES_SVG: trees.trees_drawing,
    trees.SMOOTH_SVG: trees.smooth_drawing,
    trees.CROSSOVER_SVG: trees.crossover_drawing,
    correlated.SVG: correlated.figure,
}
TABLES = {
    "errors": trees.errors_table,
    "smooth": trees.smooth_table,
    "crossover": trees.crossover_table,
    "correlated": correlated.variances_table,
    "sparse": correlated.sparse_table,
}


@pytest.mark.slow
@pytest.mark.parametrize("path", list(DRAWINGS), ids=lambda path: path.name)
def test_the_committed_drawing_is_the_recomputed_one(path: Path) -> None:
    committed, made = path.read_text(), DRAWINGS[path]()
    numbers = re.compile(r"-?\d+\.?\d*")
    assert numbers.sub("n", committed) == numbers.sub("n", made), REMADE
    # Coordinates are rounded to a tenth, on which another machine's logarithm may fall otherwise.
    shown, wanted = (np.array(numbers.findall(text), dtype=float) for text in (committed, made))
    assert np.allclose(shown, wanted, rtol=2e-3, atol=0.11), REMADE


@pytest.mark.parametrize("name", list(TABLES))
def test_the_committed_table_is_the_recomputed_one(name: str) -> None:
    assert TABLES[name]() in (trees.FOLDER / "noise.md").read_text(), REMADE


def test_crossovers_have_their_known_values() -> None:
    for length, k, leading, bound, exact, small in [
        (2**10, 19, 2.1799e-3, 7.7943e-3, 2.0421e-7, 1.3094e-8),
        (2**10, 13, 2.1799e-3, 1.6283e-2, 1.1332e-6, 7.2724e-8),
        (2**16, 20, 4.8365e-5, 5.9603e-4, 6.7514e-10, 4.3212e-11),
        (2**20, 19, 3.8188e-6, 5.3560e-5, 3.6524e-12, 2.3357e-13),
    ]:
        error = float(mean_squared_error(KaryTree(length, k), pure=True))
        assert trees.leading_crossover(length) == pytest.approx(leading, rel=1e-4)
        assert trees.bound_crossover(length, error) == pytest.approx(bound, rel=1e-4)
        assert trees.honest_crossover(length, error, 1.0) == pytest.approx(exact, rel=1e-4)
        assert trees.honest_crossover(length, error, 0.1) == pytest.approx(small, rel=1e-4)


def test_at_the_crossover_gaussian_noise_has_the_error_of_the_tree() -> None:
    from penstock.mechanisms.gaussian.curve import mu_at
    from penstock.structures.factorization.square_root import square_root

    error = float(mean_squared_error(best_tree(60, pure=True), pure=True))
    delta = trees.honest_crossover(60, error, 1.0)
    pair = square_root(60)
    node = float(pair.sensitivity.l2_squared) / mu_at(1.0, delta) ** 2
    assert pair.variances(node).mean() == pytest.approx(error, rel=1e-4)


@pytest.mark.parametrize("trade_off", [1.5, 2, 3, 4, 9])
@pytest.mark.parametrize("columns", [1, 16, 30])
def test_correlated_variances_are_those_of_the_matrices(columns: int, trade_off: float) -> None:
    pair = disjoint(columns, 1, NeighboringRelation.ADD_REMOVE, trade_off=trade_off)
    found = pair.variances(float(pair.sensitivity.l2_squared))
    assert found[:-1] == pytest.approx(correlated.count_variance(columns, trade_off), rel=1e-3)
    assert found[-1] == pytest.approx(correlated.size_variance(columns, trade_off), rel=1e-3)


@pytest.mark.parametrize(
    ("entries", "variance"),
    [(10, 9.95), (100, 91.8), (250, 194.2), (500, 265.8), (1000, 266.06)],
)
def test_sparse_variances_have_their_known_values(entries: int, variance: float) -> None:
    assert correlated.sparse_variance(1000, entries) == pytest.approx(variance, rel=5e-4)


@pytest.mark.nightly
def test_a_run_prints_its_tables_and_draws(tmp_path: Path) -> None:
    said: list[str] = []
    trees.measure(said.append, tmp_path)
    correlated.measure(said.append, tmp_path / "correlated.svg")
    assert len(said) == 5
    for path in DRAWINGS:
        root = ET.parse(tmp_path / path.name).getroot()  # noqa: S314 - our own file
        assert root.get("role") == "img"
        named = {child.get("id"): child.text for child in root if child.get("id")}
        assert (root.get("aria-labelledby") or "").split() == list(named)
        assert all(named.values())
        assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")


def test_names_of_lines_do_not_lie_on_each_other() -> None:
    lines = tuple(Line(f"line {n}", ((1.0, 1.0), (2.0, 1.0 + n / 1e6))) for n in range(5))
    text = drawing("A", "b", "c", [Panel("p", "x", "y", lines)])
    heights = sorted(float(y) for y in re.findall(r'class="end" x="[\d.]+" y="([\d.]+)"', text))
    assert len(heights) == 5
    assert min(np.diff(heights)) >= 15.9
    assert not math.isnan(heights[0])


def test_noise_placed_in_a_stream_has_the_nodes_in_use_there() -> None:
    for forest in (KaryTree(1 << 24, 19), smooth_binary(1 << 24, pure=False)):
        noise = streams.placed(forest, 2, streams.TIERS, streams._streams("a test"))
        assert noise.step == 1 << 23
        assert [len(entry.own) for entry in noise.way] == [3] * len(noise.way)


@pytest.mark.nightly
def test_a_run_of_streams_compares_everything() -> None:
    said: list[str] = []
    found = streams.measure(1, 500, (4, 128, 8), said.append)
    goals = [figure for figure in found if figure.goal is not None]
    assert len(goals) == 3 * 3 + 3
    assert all(figure.value > 0 for figure in found)
