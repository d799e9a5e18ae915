"""Run ``python -m tests.benchmarks [NAME ...]``: all benchmarks, or those named."""

import argparse
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.database import (
    engines,
    ledger,
    levels,
    long,
    previews,
    reach,
    registration,
    release,
    scaling,
    sequencer,
)
from tests.benchmarks.figures import Figure, table
from tests.benchmarks.noise import accountant, costs, histogram, mechanisms, paper_figures
from tests.benchmarks.running_sums import streams
from tests.benchmarks.served import dashboard, first_page, over_http, refusals
from tests.benchmarks.served.compared.populated import tree_at
from tests.benchmarks.utility import measured, weights

BENCHMARKS: dict[str, tuple[str, Callable[[], Sequence[Figure]]]] = {
    "mechanisms": ("Noise processes, 10^6 values", mechanisms.measure),
    "release": ("A release of 10^6 values, from request to committed ciphertext", release.measure),
    "long": ("Vectors in chunks, by processor time", long.measure),
    "levels": ("Answering with 300 stored levels against 3, 256 values", levels.measure),
    "registration": ("Registering a group-by over 10^6 rows", registration.measure),
    "engines": ("Registering a group-by on each engine, by processor time", engines.measure),
    "ledger": ("Registering after 10, 1,000 and 100,000 others", ledger.measure),
    "accountant": ("The tight figure of 100 mixed queries", accountant.measure),
    "previews": ("Every kind of preview of a small query, with nothing cached", previews.measure),
    "costs": ("The longest computations that a caller may ask for", costs.measure),
    "histogram": ("Sparse histograms of 10^5 keys over 10^6 to 2^64", histogram.measure),
    "figure2": (
        "Variance against the number of releases, epsilon 1",
        paper_figures.measure_releases,
    ),
    "utilities": ("Noise of one statistic at equal guarantees", paper_figures.measure_utilities),
    "corrections": (
        "The largest error of many counts, the worst answered again",
        paper_figures.measure_corrections,
    ),
    "trees": ("Running sums by the papers' structures", paper_figures.measure_trees),
    "correlated": ("Many counts over one population", paper_figures.measure_correlated),
    "streams": ("Steps of running sums, placed all over a stream", streams.measure),
    "statistics": ("Statistics: running sums by buffers, and speed", measured.measure),
    "weights": ("Estimates of moments, over those with equal weights", weights.measure),
    "sequencer": ("First releases of different queries, 256 values, PostgreSQL", sequencer.measure),
    "scaling": ("What grows with hosts on one PostgreSQL, and with rows", scaling.measure),
    "reach": ("Rows and values of one dataset and one vector, on one machine", reach.measure),
    "refusals": ("What the clock tells, HTTP, 256 values, SQLite", refusals.measure),
    "first_page": ("From nothing to a first page, by each way of deployment", first_page.measure),
    "pages": ("Every page, one client over HTTP, SQLite, one worker", dashboard.measure),
}
OVER_HTTP = "http"
"""The benchmark whose table has a form of its own."""
NAMES = [*BENCHMARKS, OVER_HTTP]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        default=NAMES,
        help=f"which to run, of {', '.join(NAMES)} [default: all]",
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"take less than a minute for {OVER_HTTP}"
    )
    parser.add_argument(
        "--tree",
        action="append",
        type=Path,
        metavar="PATH",
        help=f"a checkout with its own .venv that {OVER_HTTP} measures [default: this one];"
        " may be repeated, to compare checkouts in one table",
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"there is no benchmark {', '.join(unknown)}")
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"Python {platform.python_version()}, {platform.machine()},"
        f" {os.cpu_count()} processors, load {load} before the run."
    )
    for name in options.names:
        print()
        if name == OVER_HTTP:
            setting = over_http.QUICK if options.quick else over_http.Setting()
            trees = [tree_at(path) for path in options.tree or ()] or [over_http.HERE]
            print(f"{name}: HTTP, {setting.values} values\n")
            print(over_http.report(setting, trees), flush=True)
        else:
            title, measure = BENCHMARKS[name]
            print(table(f"{name}: {title}", measure()), flush=True)


if __name__ == "__main__":
    main()
