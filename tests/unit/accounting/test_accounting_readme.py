"""Test that the examples in the README of the accounting run unchanged."""

import re
from fractions import Fraction

import pytest
from tests.support.places import ROOT

README = ROOT / "server/penstock/accounting/README.md"


def run_example(place: int) -> dict[str, object]:
    """Run one of the examples, and return its names."""
    examples = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(examples) == 2
    names: dict[str, object] = {}
    exec(compile(examples[place], "README.md", "exec"), names)  # noqa: S102 - the README's own
    return names


def test_the_example_of_gaussian_releases_runs_and_saves_what_it_says() -> None:
    saved = run_example(1)["saved"]
    assert isinstance(saved, Fraction)
    assert float(saved) == pytest.approx(0.87, abs=0.005)


def test_the_example_runs_and_its_figures_are_those_of_its_words() -> None:
    names = run_example(0)
    share, scale, together = names["share"], names["scale"], names["together"]
    assert isinstance(share, float | Fraction)
    assert isinstance(scale, Fraction)
    assert isinstance(together, float)
    assert float(share) == pytest.approx(0.4, abs=0.001)
    assert 0.5 < together < 1
    assert 2 < scale < 20
