"""Test ``penstock figures``: it draws without a home, to standard output or into a file."""

import xml.etree.ElementTree as ET
from pathlib import Path

from tests.unit.cli.program_runs import Run

from penstock.experiments.catalog import EXPERIMENTS


def test_without_a_name_the_figures_are_listed(run: Run) -> None:
    listed = run("figures", "--format", "json")
    assert [each["name"] for each in listed.json] == list(EXPERIMENTS)
    assert "Lebeda 2024, Figures 2 and 3" in run("figures").out


def test_a_figure_is_drawn_to_standard_output_or_into_a_file(run: Run, tmp_path: Path) -> None:
    drawn = run("figures", "correlated")
    assert drawn.code == 0
    assert ET.fromstring(drawn.out).get("role") == "img"  # noqa: S314 - our own
    path = tmp_path / "correlated.svg"
    written = run("figures", "correlated", "--output", str(path))
    assert (written.code, written.out) == (0, "")
    assert written.err == f"Written to {path}.\n"
    assert path.read_text() == drawn.out


def test_its_table_is_text(run: Run) -> None:
    found = run("figures", "crossover", "--table")
    assert found.out.startswith("| T | k | error | leading terms |")


def test_an_unknown_name_is_refused(run: Run) -> None:
    refused = run("figures", "figure9")
    assert refused.code == 1
    assert "No figure is called 'figure9'; there are figure2" in refused.err
