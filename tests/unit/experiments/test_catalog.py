"""Test that every figure of the papers is listed, and is what it is called."""

import xml.etree.ElementTree as ET
from importlib import import_module

import pytest

from penstock.errors import InvalidInput
from penstock.experiments.catalog import EXPERIMENTS, experiment


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_a_listed_figure_has_a_function_that_makes_it(name: str) -> None:
    module, _, function = EXPERIMENTS[name].place.partition(":")
    assert callable(getattr(import_module(f"penstock.experiments.{module}"), function))
    assert experiment(name) is EXPERIMENTS[name]


@pytest.mark.parametrize("name", ["trees", "crossover", "correlated"])
def test_a_drawing_comes_with_its_tables(name: str) -> None:
    drawn = EXPERIMENTS[name].draw()
    assert drawn.svg is not None
    assert ET.fromstring(drawn.svg).get("role") == "img"  # noqa: S314 - our own
    assert drawn.tables.splitlines()[1].startswith("|---:|")


def test_an_unknown_figure_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"no_such.*figure2, utilities, trees"):
        experiment("no_such")
