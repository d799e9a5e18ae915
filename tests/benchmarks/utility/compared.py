"""Compare errors on real data: Penstock, a flat split of the budget, and OpenDP.

For one reader, all have the same epsilon at the same delta, for adding or removing one row.  For
four tiers, whose epsilons are in the ratios of ``RATIOS``, Penstock draws one path: all tiers
together learn what the best one does.  The others make four releases, and split so that all
together have the best tier's epsilon.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from tests.benchmarks.figures import Print
from tests.benchmarks.pairing import quartiles
from tests.benchmarks.utility import flat, peers, penstock_side
from tests.benchmarks.utility.studies import Study

from penstock.randomness import Stream
from penstock.services.context import Server

RATIOS = (1.0, 1 / 2, 1 / 4, 1 / 8)
"""The tiers' epsilons by the best one's."""

PEERS: Mapping[str, Sequence[str]] = {
    "median": ["median"],
    "slope": ["sums", "slope"],
    "marginals": ["mst", "aim"],
}
TITLES = {
    "median": "median: distance in rank, % of the rows",
    "slope": "slope: distance to that of least squares, %",
    "marginals": "all two-way tables: mean absolute error of a cell, rows",
}
NAMES = {
    "median": "OpenDP, exponential mechanism",
    "sums": "OpenDP, Gaussian sums",
    "slope": "OpenDP, Theil-Sen",
    "mst": "OpenDP, MST",
    "aim": "OpenDP, AIM",
}
Errors = list[list[float]]
"""Errors by tier, from the best one on, and run; none where nothing was released in time."""


@dataclass(frozen=True)
class Setting:
    """Hold how often each statistic is released, and what of the peers' is run.

    MST and AIM take minutes: they are released ``slow_runs`` times, of four tiers the best and the
    last one alone, each by itself; a release is stopped after ``seconds``.
    """

    runs: int = 9
    slow_runs: int = 1
    seconds: float = 300.0
    epsilons: Sequence[float] = (0.1, 1.0, 4.0)
    without: Sequence[str] = ()


def report(setting: Setting = Setting(), say: Print = print) -> None:
    """Print a table of each statistic, in Markdown; says what is not installed."""
    try:
        studies = peers.studies()
    except ModuleNotFoundError as problem:
        say(f"No errors on real data: {problem}")
        return
    with_peers = True
    try:
        peers.require_opendp()
    except ModuleNotFoundError as problem:
        say(f"Without OpenDP: {problem}")
        with_peers = False
    with penstock_side.fresh_server() as server:
        for kind in TITLES:
            chosen = [each for each in PEERS[kind] if with_peers and each not in setting.without]
            say("\n".join(_table(server, studies, kind, chosen, setting)))


def _table(
    server: Server, studies: Sequence[Study], kind: str, chosen: Sequence[str], setting: Setting
) -> Iterator[str]:
    heads = ["data", "epsilon", "reader", "Penstock", "flat split", *(NAMES[it] for it in chosen)]
    yield f"{TITLES[kind]}: median of the runs (quartiles)\n"
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for study in studies:
        for epsilon in setting.epsilons:
            for ratios in ((1.0,), RATIOS):
                columns = [
                    _ours(server, study, kind, epsilon, ratios, setting.runs),
                    _flat(study, kind, epsilon, ratios, setting.runs),
                    *(_theirs(study, each, epsilon, ratios, setting) for each in chosen),
                ]
                yield from _rows(study, epsilon, columns, len(ratios))


def _rows(study: Study, epsilon: float, columns: Sequence[Errors], tiers: int) -> Iterator[str]:
    """Yield a line for one reader, or for the best and the last of several tiers."""
    names = {0: "alone"} if tiers == 1 else {0: "best of 4", tiers - 1: "last of 4"}
    for tier, name in names.items():
        own = [errors[tier] if errors else [] for errors in columns]
        cells = [_cell(errors) if errors else "not in time" for errors in own]
        finite = [statistics.median(errors) if errors else math.inf for errors in own]
        least = min(finite)
        marked = [
            f"**{cell}**" if value == least < math.inf else cell
            for cell, value in zip(cells, finite, strict=True)
        ]
        yield f"| {study.name} | {epsilon:g} | {name} | {' | '.join(marked)} |"


def _cell(errors: Sequence[float]) -> str:
    middle = statistics.median(errors)
    if math.isinf(middle):
        return "too noisy"
    spread = quartiles([each for each in errors if math.isfinite(each)])
    around = "" if spread is None else f" ({spread[0]:.3g} to {spread[1]:.3g})"
    refused = sum(map(math.isinf, errors))
    return f"{middle:.3g}{around}{f', {refused} too noisy' if refused else ''}"


def _error(study: Study, kind: str) -> Callable[..., float]:
    errors: Mapping[str, Callable[..., float]] = {
        "median": study.rank_error,
        "slope": study.slope_error,
        "marginals": study.tables_error,
    }
    return errors[kind]


def _ours(
    server: Server, study: Study, kind: str, epsilon: float, ratios: Sequence[float], runs: int
) -> Errors:
    aggregate = getattr(penstock_side, kind)(study)
    error = _error(study, kind)
    found: Errors = [[] for _ in ratios]
    for run in range(runs):
        name = f"{kind}-{study.name}-{epsilon:g}-{len(ratios)}-{run}".lower().replace(".", "-")
        epsilons = [epsilon * ratio for ratio in ratios]
        views = penstock_side.released(server, study, name, aggregate, epsilons)
        for errors, view in zip(found, views, strict=True):
            if kind == "marginals":
                errors.append(error(penstock_side.tables(view)))
            else:
                wanted = "median" if kind == "median" else f"coefficient:{study.predictor}"
                value = penstock_side.estimate(view, wanted)
                errors.append(math.inf if value is None else error(value))
    return found


def _flat(study: Study, kind: str, epsilon: float, ratios: Sequence[float], runs: int) -> Errors:
    release = {"median": flat.median, "slope": flat.slope, "marginals": flat.tables}[kind]
    stream = Stream.from_key(sha256(f"{study.name}/{kind}/{epsilon}/{ratios}".encode()).digest())
    error = _error(study, kind)
    return [
        [error(release(study, mu, stream)) for _ in range(runs)]
        for mu in flat.parts(epsilon, ratios)
    ]


def _theirs(
    study: Study, kind: str, epsilon: float, ratios: Sequence[float], setting: Setting
) -> Errors:
    slow = kind in PEERS["marginals"]
    error = _error(study, next(name for name, kinds in PEERS.items() if kind in kinds))
    if not slow or len(ratios) == 1:
        runs = setting.slow_runs if slow else setting.runs
        answers = peers.answers(kind, study, epsilon, ratios, runs, setting.seconds)
        return [[error(each) for each in values] for values in answers or ()]
    found: Errors = [[] for _ in ratios]
    for tier in (0, len(ratios) - 1):
        runs, seconds = setting.slow_runs, setting.seconds
        answers = peers.answers(kind, study, epsilon, ratios, runs, seconds, only=(tier,))
        found[tier] = [error(each) for values in answers or () for each in values]
    return found
