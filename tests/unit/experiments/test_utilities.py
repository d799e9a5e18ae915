"""Test the table of utilities: against closed forms, and the committed one against a new run."""

import math
import re

import numpy as np
import pytest
from scipy import stats
from tests.benchmarks.noise import paper_figures
from tests.benchmarks.noise.paper_figures import NOISE

from penstock.experiments import utilities
from penstock.experiments.utilities import EPSILONS, Row, Setting
from penstock.mechanisms import MECHANISMS
from penstock.mechanisms.gaussian.curve import epsilon_at


@pytest.fixture(scope="module")
def found() -> list[Row]:
    return utilities.rows(Setting(values=20_000))


def test_every_mechanism_stands_at_every_guarantee(found: list[Row]) -> None:
    assert [(one.epsilon, one.mechanism) for one in found] == [
        (epsilon, name) for epsilon in EPSILONS for name in MECHANISMS
    ]


def test_levels_are_those_of_closed_forms(found: list[Row]) -> None:
    for one in found:
        if one.mechanism == "laplace":
            assert one.level == pytest.approx(1 / one.epsilon)
            assert one.exact.standard_deviation == pytest.approx(
                math.sqrt(2) / one.epsilon, rel=1e-3
            )
        if one.mechanism == "gaussian":
            epsilon = epsilon_at(1e-6, 1 / one.exact.standard_deviation)
            assert epsilon == pytest.approx(one.epsilon, rel=1e-4)
        if one.mechanism in ("poisson", "skellam"):
            assert one.exact.standard_deviation == pytest.approx(math.sqrt(one.level))


@pytest.mark.parametrize("name", ["poisson", "skellam"])
def test_levels_use_up_delta_and_no_more(name: str, found: list[Row]) -> None:
    """The hockey-stick divergence of scipy's own law from its shift by one, both ways."""
    values = np.arange(-2_000, 4_000)
    for one in found:
        if one.mechanism == name:
            mean = one.level
            law = stats.poisson(mean) if name == "poisson" else stats.skellam(mean / 2, mean / 2)
            here, there = law.pmf(values), law.pmf(values - 1)
            ways = ((here, there), (there, here))
            deltas = [np.maximum(p - math.exp(one.epsilon) * q, 0).sum() for p, q in ways]
            assert max(deltas) == pytest.approx(1e-6, rel=1e-3)


def test_the_committed_table_holds_the_recomputed_figures(found: list[Row]) -> None:
    committed = {
        (cells[0], cells[1]): cells
        for line in NOISE.read_text().splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 8
    }
    for one in found:
        computed = one.cells()
        shown = committed.get((computed[0], computed[1]))
        assert shown is not None, "run: python -m tests.benchmarks utilities"
        for place in (2, 3, 4, 6):
            assert shown[place] == computed[place]
        for exact, measured in ((4, 5), (6, 7)):
            assert float(shown[measured]) == pytest.approx(float(shown[exact]), rel=0.03)


def test_a_run_prints_the_table() -> None:
    said: list[str] = []
    figures = paper_figures.measure_utilities(Setting(values=5_000), said.append)
    assert len(figures) == len(EPSILONS) * len(MECHANISMS)
    assert re.match(r"\| epsilon \| mechanism \|.*\n\|---:\|---\|", said[0])
