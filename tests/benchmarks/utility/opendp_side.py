"""Release one statistic by OpenDP, in an interpreter of its own: ``document`` in, values out.

OpenDP's extra ``mbi`` needs an older mbi than Penstock's, so that both cannot be installed
together.  This file is run as a script by that interpreter, and imports nothing of the repository.

Its noise comes from the operating system: OpenDP takes no seed, so that its figures differ a little
from run to run.
"""

import json
import sys
from itertools import combinations
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")


def rho_for(epsilon: float, delta: float) -> float:
    """Return the largest rho whose curve, as OpenDP converts it, has ``epsilon`` at ``delta``."""
    domain, metric = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def converted(rho: float) -> float:
        gaussian = dp.m.make_gaussian(domain, metric, scale=(1 / (2 * rho)) ** 0.5)
        curve = dp.c.make_zCDP_to_approxDP(gaussian).map(1.0)
        return float(curve.epsilon(delta))

    low, high = 1e-9, 1e3
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if converted(middle) > epsilon else (middle, high)
    return low


def pure_parts(document: dict[str, Any]) -> list[float]:
    """Return epsilons in the ratios of the tiers, whose sum is the epsilon of all."""
    ratios = document["ratios"]
    return [document["epsilon"] * ratio / sum(ratios) for ratio in ratios]


def squared_parts(document: dict[str, Any]) -> list[float]:
    """Return rhos in the ratios' squares, whose sum is the rho of all."""
    ratios = document["ratios"]
    whole = rho_for(document["epsilon"], document["delta"])
    return [whole * ratio**2 / sum(each**2 for each in ratios) for ratio in ratios]


def median(document: dict[str, Any]) -> list[list[float]]:
    """Return medians by the exponential mechanism over ``candidates``, by tier and run."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    answers = []
    for epsilon in pure_parts(document):
        measurement = dp.binary_search_chain(
            lambda scale: dp.m.make_private_quantile(
                *space, dp.max_divergence(), document["candidates"], 0.5, scale
            ),
            d_in=1,
            d_out=epsilon,
        )
        answers.append([measurement(document["values"]) for _ in range(document["runs"])])
    return answers


def slope(document: dict[str, Any]) -> list[list[float]]:
    """Return slopes by OpenDP's regression (Theil-Sen), by tier and run."""
    rows = np.column_stack([document["predictor"], document["outcome"]])
    answers = []
    for epsilon in pure_parts(document):
        measurement = dp.binary_search_chain(
            lambda scale: (
                dp.sklearn.linear_model.LinearRegression(
                    dp.max_divergence(),
                    x_bounds=[tuple(document["predictor_bounds"])],
                    y_bounds=tuple(document["outcome_bounds"]),
                    scale=scale,
                    candidates_count=1001,
                    fraction_bounds=tuple(document["fractions"]),
                ).measurement
            ),
            d_in=1,
            d_out=epsilon,
        )
        answers.append([float(measurement(rows)[0]) for _ in range(document["runs"])])
    return answers


def sums(document: dict[str, Any]) -> list[list[float]]:
    """Return slopes from Gaussian noise on the five sums that least squares needs, by tier and run.

    Both columns are cut to their bounds and mapped to [-1, 1]: one row moves the sums by the square
    root of 5.
    """
    columns = []
    for name in ("predictor", "outcome"):
        lower, upper = document[f"{name}_bounds"]
        cut = np.clip(document[name], lower, upper)
        columns.append((2 * cut - lower - upper) / (upper - lower))
    x, y = columns
    exact = [float(each) for each in (len(x), x.sum(), y.sum(), x @ x, x @ y)]
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)
    answers = []
    for rho in squared_parts(document):
        measurement = dp.m.make_gaussian(*space, scale=(5 / (2 * rho)) ** 0.5)
        runs = []
        for _ in range(document["runs"]):
            n, of_x, of_y, of_xx, of_xy = measurement(exact)
            runs.append(float((n * of_xy - of_x * of_y) / (n * of_xx - of_x**2)))
        answers.append(runs)
    widths = [np.ptp(document[f"{name}_bounds"]) for name in ("outcome", "predictor")]
    return [[float(each * widths[0] / widths[1]) for each in runs] for runs in answers]


def marginals(document: dict[str, Any]) -> list[list[list[list[float]]]]:
    """Return all two-way tables, flattened and in order, by tier and run: by AIM or by MST.

    Of the tiers, which split the budget, only those in ``only`` are released if it is given.
    """
    parts = squared_parts(document)
    chosen = document.get("only") or range(len(parts))
    return [[_tables(document, parts[at]) for _ in range(document["runs"])] for at in chosen]


def _tables(document: dict[str, Any], rho: float) -> list[list[float]]:
    """Return one release of the two-way tables at ``rho``.

    At some budgets the last of OpenDP's steps needs 1e-16 of it more than its other steps left:
    a budget smaller by up to 1% is then taken, of which the first try spent nothing on tables.
    """
    for lost in range(100):
        try:
            return _released(document, rho * (1 - lost / 10_000))
        except dp.OpenDPException as problem:
            if "insufficient budget" not in str(problem):
                raise
    raise RuntimeError(f"OpenDP refuses rho {rho:g} and 99 smaller ones")


def _released(document: dict[str, Any], rho: float) -> list[list[float]]:
    sizes = document["sizes"]
    pairs = list(combinations(sizes, 2))
    algorithms = {"aim": dp.mbi.AIM(queries=[dp.mbi.Count(pair) for pair in pairs])}
    algorithms["mst"] = dp.mbi.MST()
    context = dp.Context.compositor(
        data=pl.LazyFrame({name: np.array(codes) for name, codes in document["codes"].items()}),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    query = context.query().contingency_table(
        keys={name: list(range(size)) for name, size in sizes.items()},
        algorithm=algorithms[document["algorithm"]],
    )
    table = query.release()
    # The last value of each column stands for what is in no key.
    return [
        np.asarray(table.project(pair))[: sizes[pair[0]], : sizes[pair[1]]].ravel().tolist()
        for pair in pairs
    ]


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    kinds = {"median": median, "slope": slope, "sums": sums, "marginals": marginals}
    json.dump(kinds[asked["kind"]](asked), sys.stdout)
