"""Test the paper's figure.

Exact values against closed forms, and what is committed against both.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks import figures
from tests.benchmarks.noise import paper_figures
from tests.benchmarks.noise.paper_figures import NOISE

from penstock.experiments import many_releases
from penstock.experiments.many_releases import RELEASES, STRATEGIES, Setting, Single
from penstock.mechanisms import MECHANISMS, Gaussian, IntVector, Laplace
from penstock.randomness import Stream

COMMITTED = paper_figures.drawing_of("figure2")
REMADE = "run: python -m tests.benchmarks figure2, and put its table into noise.md"
SVG = "{http://www.w3.org/2000/svg}"

# Their exact values take seconds each, and are tested where they are made.
SLOW = ("poisson", "skellam")
every_mechanism = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly) if name in SLOW else name
        for name in MECHANISMS
    ],
)


@cache
def single(name: str) -> Single:
    return Single(MECHANISMS[name])


@cache
def exact(name: str, strategy: str, releases: int) -> float:
    return many_releases.exact_ratio(single(name), strategy, releases)


def committed() -> dict[tuple[str, str, int], tuple[float, float]]:
    """Return the committed drawing's exact and measured values.

    The keys are mechanism, strategy and number of releases.
    """
    found = {}
    for title in ET.parse(COMMITTED).iter(f"{SVG}title"):  # noqa: S314 - our own file
        parts = re.fullmatch(
            r"(\w+), (\w+), (\d+) releases: ([\d.]+), measured ([\d.]+)", title.text or ""
        )
        if parts:
            name, strategy, releases, value, measured = parts.groups()
            found[name, strategy, int(releases)] = float(value), float(measured)
    return found


def test_one_path_costs_nothing_and_the_rest_what_closed_forms_say() -> None:
    for releases in RELEASES:
        assert exact("gaussian", "split", releases) == pytest.approx(releases, rel=1e-4)
        doubled = 4 / 3 * (1 - 4.0**-releases)
        assert exact("gaussian", "doubling", releases) == pytest.approx(doubled, rel=1e-4)
        for name in MECHANISMS:
            assert exact(name, "lossless", releases) == 1
    # As long as delta does not help, epsilons add up.
    for releases in (1, 2, 3, 4):
        assert exact("laplace", "split", releases) == pytest.approx(releases**2, rel=1e-3)
        doubled = (2 - 2.0 ** (1 - releases)) ** 2
        assert exact("laplace", "doubling", releases) == pytest.approx(doubled, rel=1e-3)
    assert exact("laplace", "split", 16) < 0.95 * 16**2


@every_mechanism
def test_every_strategy_costs_what_one_release_does(name: str) -> None:
    one = single(name)
    assert one.epsilon == pytest.approx(many_releases.EPSILON, rel=2e-3)
    assert one.epsilon <= many_releases.EPSILON
    for strategy in ("split", "doubling"):
        assert one.together(one.levels(strategy, 4)) == pytest.approx(one.epsilon, rel=1e-4)


@every_mechanism
def test_the_committed_drawing_shows_the_recomputed_values(name: str) -> None:
    shown = committed()
    for strategy in STRATEGIES:
        for releases in RELEASES:
            assert (name, strategy, releases) in shown, f"{name} is not drawn; {REMADE}"
            value, measured = shown[name, strategy, releases]
            assert value == pytest.approx(exact(name, strategy, releases), rel=5e-4), REMADE
            assert measured == pytest.approx(value, rel=0.035), REMADE


def test_the_committed_table_is_that_of_the_committed_drawing() -> None:
    points = [
        many_releases.Point(name, strategy, releases, *values)
        for (name, strategy, releases), values in committed().items()
    ]
    assert many_releases.markdown(points) in NOISE.read_text(), REMADE


@dataclass(frozen=True)
class LouderLaplace(Laplace):
    """Draw a tenth more noise than the law says, at the anchor: broken."""

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        drawn = super().increment(accurate, noisy, size, stream)
        louder: IntVector = np.rint(drawn * 1.1).astype(np.int64)
        return louder


@dataclass(frozen=True)
class ForgetfulGaussian(Gaussian):
    """Bridge without regard to where it has to arrive: broken."""

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        return super().bridge(accurate, noisy, np.zeros_like(difference), level, stream)


@pytest.mark.parametrize("kind", [LouderLaplace, ForgetfulGaussian])
def test_noise_of_another_law_ends_the_run(kind: type[Laplace] | type[Gaussian]) -> None:
    size, releases = 20_000, 4
    many_releases.measured_ratio(single(kind.name), "lossless", releases, size)
    with pytest.raises(ArithmeticError, match=r"off by|a correlation of"):
        many_releases.measured_ratio(Single(kind), "lossless", releases, size)


@pytest.mark.nightly
def test_a_run_prints_its_tables_and_draws(tmp_path: Path) -> None:
    said: list[str] = []
    setting = Setting(values=5_000, releases=(1, 3))
    found = paper_figures.measure_releases(setting, said.append, tmp_path)
    assert {figure.name.split(",")[0] for figure in found} == set(MECHANISMS)
    assert all(0.8 < figure.value < 1.25 for figure in found)
    assert "| gaussian | split | 1.00 | 3.00 |" in said[0]
    assert said[0].count("| mechanism | strategy | 1 | 3 |") == 2
    assert figures.table("a table", found).count("\n") == 1 + 3 * len(MECHANISMS)
    check_accessible(tmp_path / "figure2.svg")


def check_accessible(path: Path) -> None:
    root = ET.parse(path).getroot()  # noqa: S314 - our own file
    assert root.get("role") == "img"
    named = {child.get("id"): child.text for child in root if child.get("id")}
    assert (root.get("aria-labelledby") or "").split() == list(named)
    assert all(named.values())
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    for tag in ("script", "image", "foreignObject"):
        assert root.find(f".//{SVG}{tag}") is None


def test_the_committed_drawing_can_be_read_by_everybody() -> None:
    check_accessible(COMMITTED)
