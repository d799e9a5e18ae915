"""Make the committed drawings of the papers' figures, and print the tables for ``noise.md``."""

from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import Figure, Print

from penstock.experiments import corrections, correlated, many_releases, utilities
from penstock.experiments.catalog import EXPERIMENTS
from penstock.experiments.correlated import COLUMNS, SPARSE_COLUMNS
from penstock.experiments.running_sums import LENGTHS
from penstock.structures import binary_tree
from penstock.structures.streams.choice import best_tree, mean_squared_error

FOLDER = Path(__file__).parents[1]
NOISE = FOLDER / "noise.md"
CORRECTIONS = corrections.Setting()
UTILITIES = utilities.Setting()
RELEASES = many_releases.Setting()


def drawing_of(name: str) -> Path:
    """Return where a figure's drawing is committed."""
    return FOLDER / f"{name}.svg"


def _made(name: str, say: Print, folder: Path) -> None:
    drawn = EXPERIMENTS[name].draw()
    say(drawn.tables + "\n")
    if drawn.svg is not None:
        (folder / f"{name}.svg").write_text(drawn.svg)


def measure_trees(say: Print = print, folder: Path = FOLDER) -> Sequence[Figure]:
    """Print tables, write drawings, and return how far the trees' errors are apart."""
    for name in ("trees", "smooth", "crossover"):
        _made(name, say, folder)
    return [
        Figure(
            f"binary over the best tree, T = {length}",
            float(
                mean_squared_error(binary_tree(length), pure=True)
                / mean_squared_error(best_tree(length, pure=True), pure=True)
            ),
            "x",
        )
        for length in LENGTHS
    ]


def measure_correlated(say: Print = print, folder: Path = FOLDER) -> Sequence[Figure]:
    """Print the tables, write the drawing, and return what correlation gains."""
    _made("correlated", say, folder)
    best = correlated.count_variance(COLUMNS, COLUMNS**0.25)
    half = SPARSE_COLUMNS // 2
    gain = half / correlated.sparse_variance(SPARSE_COLUMNS, half)
    return [
        Figure("standard over correlated Gaussian, variance", COLUMNS / best, "x"),
        Figure(f"standard over ellipse for half of {SPARSE_COLUMNS} columns, variance", gain, "x"),
    ]


def measure_corrections(
    setting: corrections.Setting = CORRECTIONS, say: Print = print, folder: Path = FOLDER
) -> Sequence[Figure]:
    """Print the table, write the drawing, and return what corrections gain."""
    found = corrections.rows(setting)
    say(corrections.markdown(found))
    (folder / "corrections.svg").write_text(corrections.figure(found))
    return [
        Figure(
            f"{counts} counts, best power alone over best correction",
            one.alone / other.corrected,
            "x",
        )
        for counts, one, other in corrections.least_errors(found)
    ]


def measure_utilities(
    setting: utilities.Setting = UTILITIES, say: Print = print
) -> Sequence[Figure]:
    """Print the table; return what was measured over what is exact."""
    found = utilities.rows(setting)
    say(utilities.markdown(found))
    return [
        Figure(
            f"{one.mechanism} at epsilon {one.epsilon:g}: measured over exact deviation",
            one.measured.standard_deviation / one.exact.standard_deviation,
            "x",
        )
        for one in found
    ]


def measure_releases(
    setting: many_releases.Setting = RELEASES,
    say: Print = print,
    folder: Path = FOLDER,
) -> Sequence[Figure]:
    """Print the tables, write the drawing, and return measured over exact."""
    found = many_releases.points(setting)
    exact, measured = (many_releases.markdown(found, measured=each) for each in (False, True))
    say(f"Exact:\n{exact}\nMeasured:\n{measured}")
    (folder / "figure2.svg").write_text(many_releases.figure(found))
    most = max(setting.releases)
    return [
        Figure(
            f"{p.mechanism}, {p.strategy}, {most} releases: measured over exact",
            p.measured / p.exact,
            "x",
        )
        for p in found
        if p.releases == most
    ]
