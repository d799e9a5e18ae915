"""Fit a graphical model to released marginals, and draw rows from it.

The model is ``mbi``'s (McKenna, Sheldon, Miklau 2019): of all tables with a small junction tree,
the one of the largest entropy whose marginals are nearest to the released ones.  It sees nothing
but what was released: rows that are drawn from it cost no budget.

This module runs in a process of its own, which takes seconds to start and is given JSON alone.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput

MOST_CELLS: Final = 1 << 21
"""The cells of a junction tree, at most: each takes some hundred bytes while it is fitted."""

ITERATIONS: Final = 500
MOST_BLOCKS: Final = 240
"""So often as many iterations are carried out, at most."""

NEAR: Final = 1.0
"""The model is fitted once the cells of its tables are at most this far from the best ones, in
deviations of their noise: the root of the mean square over all cells, by a bound that is proved for
each model (``excess``)."""


def rows(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows, and how far each released marginal is from theirs.

    ``document`` has ``sizes``, the number of values of each column; ``marginals``, each with
    ``columns``, ``values`` in row-major order and ``deviation``; ``total``, the released number of
    rows; ``rows``, how many to draw; and ``seed``.  In the answer ``codes`` are the rows by column,
    values by their number, and ``fits`` have for each marginal the ``distance`` in total variation
    and whether the model was ``fitted`` to it.

    Raises ``InvalidInput`` for a total below 1, and for a model that does not converge.
    """
    sizes, marginals = document["sizes"], document["marginals"]
    if document["total"] < 1:
        raise InvalidInput(
            f"The released number of rows is {document['total']:.3g}, which says that there are"
            " none: no rows can be drawn from it. Ask at a more accurate level."
        )
    tables = [
        np.array(marginal["values"], dtype=np.float64).reshape(
            [sizes[column] for column in marginal["columns"]]
        )
        for marginal in marginals
    ]
    fitted = chosen(sizes, [marginal["columns"] for marginal in marginals], tables)
    codes = _drawn(document, tables, fitted)
    fits = [
        {
            "columns": marginal["columns"],
            "distance": distance(table, _counted(codes, marginal["columns"], table.shape)),
            "fitted": number in fitted,
        }
        for number, (marginal, table) in enumerate(zip(marginals, tables, strict=True))
    ]
    return {"codes": {name: column.tolist() for name, column in codes.items()}, "fits": fits}


def forget() -> None:
    """Keep nothing: a process draws one set of rows, and ends."""


JOBS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"rows": rows}


def chosen(
    sizes: Mapping[str, int],
    columns: Sequence[Sequence[str]],
    tables: Sequence[NDArray[np.float64]],
) -> set[int]:
    """Return the numbers of the marginals that a model of at most ``MOST_CELLS`` is fitted to.

    They are taken by how much they say beyond their columns' own counts, as they were released.
    """
    mbi, _ = _library()
    domain, numbers = _domain(mbi, sizes)
    order = sorted(range(len(tables)), key=lambda number: (-_dependence(tables[number]), number))
    cliques: list[tuple[int, ...]] = []
    within: set[int] = set()
    for number in order:
        wider = [*cliques, tuple(numbers[name] for name in columns[number])]
        if mbi.junction_tree.hypothetical_model_size(domain, wider) * 2**20 <= 8 * MOST_CELLS:
            cliques = wider
            within.add(number)
    return within


def excess(fitted: Any, loss: Callable[[Any], Any], total: float) -> float:
    """Return a bound on how much more a model's loss is than the least of all tables of ``total``.

    ``fitted`` are the model's marginals, and ``loss`` is convex in them.  The bound is the largest
    decrease that the loss's tangent promises (Jaggi 2013, Section 2): it goes to the table that
    has all rows in one cell, which is searched along the junction tree.  For half the squared error
    in units of the noise, half the squared distance of the tables to the best ones is below it.
    """
    import jax

    slope = jax.grad(loss)(fitted)
    rest = list((-1.0 * slope).tables.values())
    cliques = [factor.domain.attributes for factor in rest]
    mbi, _ = _library()
    order, _ = mbi.junction_tree.greedy_order(slope.active_domain, cliques)
    for column in order:
        joined = [factor for factor in rest if column in factor.domain.attributes]
        rest = [factor for factor in rest if column not in factor.domain.attributes]
        rest.append(sum(joined[1:], start=joined[0]).max([column]))
    steepest = sum(float(factor.values) for factor in rest)
    return float(slope.dot(fitted)) + total * steepest


def distance(released: NDArray[np.float64], counted: NDArray[np.int64]) -> float:
    """Return the distance in total variation between the shares of two tables of one shape.

    Shares of released cells may be negative, and are taken as they are.
    """
    shares = released / max(float(released.sum()), 1.0)
    return float(np.abs(shares - counted / max(int(counted.sum()), 1)).sum() / 2)


def _dependence(table: NDArray[np.float64]) -> float:
    """Return the total correlation of a table's columns, in nats; negative cells count as 0."""
    shares = np.clip(table, 0.0, None)
    total = float(shares.sum())
    if table.ndim < 2 or total <= 0:
        return math.inf if table.ndim < 2 else 0.0
    shares = shares / total
    independent = np.ones(())
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        independent = np.multiply.outer(independent, shares.sum(axis=others))
    seen = shares > 0
    return float((shares[seen] * np.log(shares[seen] / independent[seen])).sum())


def _drawn(
    document: Mapping[str, Any], tables: Sequence[NDArray[np.float64]], fitted: set[int]
) -> dict[str, NDArray[np.int64]]:
    mbi, marginal_loss = _library()
    domain, numbers = _domain(mbi, document["sizes"])
    measurements = [
        mbi.LinearMeasurement(
            tables[number].ravel(),
            tuple(numbers[name] for name in marginal["columns"]),
            marginal["deviation"],
        )
        for number, marginal in enumerate(document["marginals"])
        if number in fitted
    ]
    loss = marginal_loss.from_linear_measurements(measurements, domain)
    cells = sum(tables[number].size for number in fitted)
    model = None
    for _ in range(MOST_BLOCKS):
        model = mbi.estimation.MirrorDescent().estimate(
            domain, loss, known_total=document["total"], iters=ITERATIONS, warm_start=model
        )
        if excess(model.marginals, loss, document["total"]) <= NEAR**2 * cells / 2:
            break
    else:
        raise InvalidInput(
            f"The model of the rows did not converge in {ITERATIONS * MOST_BLOCKS:,} iterations;"
            " nothing was drawn. Register fewer sets of columns, or ask for a release of fewer."
        )
    # mbi draws from numpy's generator of the process, which draws nothing else.  Rows are made from
    # a release: whoever knows the seed learns nothing beyond it.
    np.random.seed(document["seed"])  # noqa: NPY002, TID251
    data = model.synthetic_data(rows=document["rows"])
    codes = data.to_dict()
    return {name: np.asarray(codes[number], dtype=np.int64) for name, number in numbers.items()}


def _domain(mbi: Any, sizes: Mapping[str, int]) -> tuple[Any, dict[str, int]]:
    """Return the model's domain, whose columns are numbers, and the number of each column.

    mbi goes through sets of columns, and sets of texts have another order in each process.
    """
    numbers = {name: number for number, name in enumerate(sizes)}
    return mbi.Domain(list(numbers.values()), list(sizes.values())), numbers


def _counted(
    codes: Mapping[str, NDArray[np.int64]], columns: Sequence[str], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    cells = np.ravel_multi_index([codes[name] for name in columns], shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def _library() -> tuple[Any, Any]:
    """Return ``mbi`` and its losses, in double precision, with nothing written to a cache."""
    os.environ.update(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1", JAX_ENABLE_COMPILATION_CACHE="0")
    import mbi
    from mbi import marginal_loss

    return mbi, marginal_loss
