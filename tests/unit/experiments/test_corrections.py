"""Test the table of corrections: what it rests on, and the committed one against a new run."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.benchmarks.noise.paper_figures import NOISE, drawing_of

from penstock.experiments import corrections
from penstock.experiments.corrections import HEADS, POWERS, Row

COMMITTED = (64, 1024, 16384)


@pytest.fixture(scope="module")
def found() -> Row:
    return corrections.row(64, Fraction(2), releases=100)


def committed() -> dict[tuple[str, str], list[str]]:
    lines = [line.strip("|").split("|") for line in NOISE.read_text().splitlines()]
    cells = [[cell.strip() for cell in line] for line in lines if len(line) == len(HEADS)]
    return {(one[0], one[1]): one for one in cells}


@pytest.mark.nightly
def test_the_committed_table_holds_the_recomputed_figures(found: Row) -> None:
    shown = committed()[found.cells()[0], found.cells()[1]]
    for place in (2, 3, 5, 7, 11, 12, 13):
        assert float(shown[place]) == pytest.approx(float(found.cells()[place]), rel=2e-3)


@pytest.mark.parametrize("counts", COMMITTED)
def test_the_committed_table_has_every_row_and_measured_what_it_expects(counts: int) -> None:
    rows = [one for (number, _), one in committed().items() if number == str(counts)]
    assert len(rows) == 4
    for cells in rows:
        alone, corrected = float(cells[3]), float(cells[5])
        for expected, measured in ((alone, cells[4]), (corrected, cells[6])):
            mean, error = (float(part) for part in measured.split(" +- "))
            assert abs(mean - expected) < 6 * error < 0.1 * expected
        assert float(cells[7]) == pytest.approx(alone / corrected, rel=1e-3)


@pytest.mark.parametrize("counts", COMMITTED)
def test_no_correction_is_better_than_the_best_power_alone(counts: int) -> None:
    rows = [one for (number, _), one in committed().items() if number == str(counts)]
    assert min(float(cells[5]) for cells in rows) > min(float(cells[3]) for cells in rows)


def test_the_committed_drawing_ends_with_the_figures_of_the_table() -> None:
    rows = [one for (number, _), one in committed().items() if number == "16384"]
    least = min(float(cells[3]) for cells in rows)
    ends = (float(rows[0][3]), float(rows[0][5]), float(rows[1][3]), least)
    names = ("Laplace", "Laplace, corrected", "Gaussian", "best power")
    told = ", ".join(f"{name} {end / 128:.4g}" for name, end in zip(names, ends, strict=True))
    assert told in drawing_of("corrections").read_text()


@pytest.mark.nightly
def test_rows_are_drawn_and_printed_and_the_least_errors_compared(found: Row) -> None:
    rows = [
        replace(found, counts=counts, power=power, alone=found.alone + float(power))
        for counts in (64, 128)
        for power in POWERS
    ]
    assert corrections.figure(rows).startswith("<svg")
    assert corrections.markdown(rows).count("\n") == 2 + len(rows) - 1
    assert [(k, float(one.power)) for k, one, _ in corrections.least_errors(rows)] == [
        (64, 1.0),
        (128, 1.0),
    ]
