"""Define what a plan means, row by row in plain Python: slow, and independent of any SQL."""

import hashlib
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from fractions import Fraction
from itertools import product

from penstock.connectors.formulas.arithmetic import (
    Cases,
    Computed,
    Constant,
    Cut,
    DerivedColumn,
    Sum,
    TextCell,
)
from penstock.connectors.formulas.formula import Column, Filter, Formula
from penstock.connectors.planning.plan import Grouping, Plan, Summand
from penstock.connectors.planning.sensitivity import Measure
from penstock.connectors.specs.cells import Cell
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.kronecker import Workload
from penstock.structures.factorization.rows import Given, Spans
from penstock.structures.marginals.lattice import Marginals

Cells = Mapping[str, str | None]


def read(column: Column, text: str | None) -> Cell | None:
    """Return a cell as its declared type, ``missing`` where it cannot be read, or None."""
    try:
        found = None if text is None else READERS[column.type](text)
    except (ValueError, KeyError):
        found = None
    return column.missing if found is None else found


def value_of(column: Column, cells: Cells) -> Cell | None:
    """Return a column's value in a row, of a derived one by its expression."""
    if isinstance(column, DerivedColumn):
        return _computed(column.computed, cells)
    return read(column, cells[column.name])


def _computed(computed: Computed, cells: Cells) -> int | str | None:
    match computed:
        case Constant():
            return computed.value
        case TextCell():
            text = value_of(computed.column, cells)
            assert text is None or isinstance(text, str)
            return text
        case Cut():
            cell = value_of(computed.column, cells)
            assert cell is None or isinstance(cell, int)
            return None if cell is None else max(computed.lowest, min(cell, computed.highest))
        case Cases():
            for formula, value in computed.cases:
                if holds(formula, cells):
                    return _computed(value, cells)
            return None if computed.otherwise is None else _computed(computed.otherwise, cells)
        case Sum():
            return _together(sum, computed.terms, cells)
    return _together(math.prod, computed.factors, cells)


def _together(
    fold: Callable[[list[int]], int], parts: Iterable[Computed], cells: Cells
) -> int | None:
    values = [_computed(part, cells) for part in parts]
    present = [value for value in values if isinstance(value, int)]
    return fold(present) if len(present) == len(values) else None


def _number(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _integer(text: str) -> int | None:
    number = float(text)
    return int(number) if number == math.floor(number) else None


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text]


READERS: dict[str, Callable[[str], Cell | None]] = {
    "string": str,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": date.fromisoformat,
}


COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def holds(each: Formula, cells: Cells) -> bool:
    """Return whether a row meets a formula; what is unknown does not hold."""
    if isinstance(each, Filter):
        return is_kept(each, value_of(each.column, cells))
    each_part = (holds(part, cells) for part in each.parts)
    return any(each_part) if each.joining == "any" else all(each_part)


def is_kept(each: Filter, value: Cell | None) -> bool:
    """Return whether a row with this cell meets a condition."""
    if each.op in {"is_null", "is_not_null"}:
        return (value is None) == (each.op == "is_null")
    if value is None:
        return False
    if each.op in COMPARED:
        return bool(COMPARED[each.op](value, each.values[0]))
    return (value in each.values) == (each.op == "in")


def _place(grouping: Grouping, value: Cell | None) -> int | None:
    if grouping.categories:
        return grouping.categories.index(value) if value in grouping.categories else None
    if not isinstance(value, int | float):
        return None
    for place in range(len(grouping)):
        low, high = grouping.edges[place : place + 2]
        if low <= value < high or (place == len(grouping) - 1 and value == high):
            return place
    return None


def _steps(plan: Plan, cells: Cells) -> int | None:
    if plan.summand is None:
        return 1
    value = value_of(plan.summand.column, cells)
    if plan.summand.categories:
        return 0 if value in plan.summand.categories else 1
    if not isinstance(value, int | float):
        return None
    scaled = Fraction(value) / plan.summand.step
    clamped = max(Fraction(plan.summand.lowest), min(scaled, Fraction(plan.summand.highest)))
    return math.floor(clamped + Fraction(1, 2))


def _height(factor: Summand, cells: Cells) -> int | None:
    """Return a factor's cell in steps above its grid, as doubles divide."""
    value = value_of(factor.column, cells)
    if not isinstance(value, int | float):
        return None
    scaled = max(float(factor.lowest), min(float(value) / float(factor.step), factor.highest))
    return math.floor(scaled + 0.5) - factor.lowest


def _products(plan: Plan, rows: list[Cells]) -> list[int]:
    """Return the sums of the products of all pairs of factors, the constant first."""
    points = [[_height(factor, cells) for factor in plan.factors] for cells in rows]
    centered = [[plan.grid, *(2 * (u or 0) - plan.grid for u in point)] for point in points]
    counted = len(rows) if plan.unit is None else min(len(rows), plan.max_rows)
    sums = []
    for first in range(len(plan.factors) + 1 if plan.order == 2 else 1):
        for second in range(first, len(plan.factors) + 1):
            # Without products z_0 is 1 in all sums, and W in the count.
            least = plan.order == 1
            total = sum((1 if least else point[first]) * point[second] for point in centered)
            sums.append(math.floor(Fraction(total * counted, len(rows)) + Fraction(1, 2)))
    return sums


def _bin(bins: Grouping, cells: Cells) -> int | None:
    """Return the bin of a cell, of one beyond all bins the nearest."""
    value = value_of(bins.column, cells)
    if not isinstance(value, int | float):
        return None
    return _place(bins, max(bins.edges[0], min(float(value), bins.edges[-1])))


def _nodes(plan: Plan, bins: Grouping, rows: list[Cells]) -> list[int]:
    """Return the sums of 1, 4, 16 ... bins over those rows of a unit that count."""
    places = sorted(place for cells in rows if (place := _bin(bins, cells)) is not None)
    counted = len(rows) if plan.unit is None else min(len(rows), plan.max_rows)
    ranks = [(place, number + 1) for number, place in enumerate(places)]
    half = Fraction(1, 2)
    steps = [
        math.floor(Fraction(rank * counted, len(rows)) + half)
        - math.floor(Fraction((rank - 1) * counted, len(rows)) + half)
        for _, rank in ranks
    ]
    counts = [0] * len(bins)
    for (place, _), step in zip(ranks, steps, strict=True):
        counts[place] += step
    sums, width = [], 1
    while True:
        level = [sum(counts[first : first + width]) for first in range(0, len(counts), width)]
        sums += level
        if len(level) <= 4:
            return sums
        width *= 4


def _given(plan: Plan, values: list[int]) -> tuple[int, ...]:
    counted = min(len(values), plan.max_rows)
    match plan.measure:
        case Measure.COUNT | Measure.MARGINALS | Measure.WORKLOAD:
            return (counted,)
        case Measure.COUNT_UNITS:
            return (1,)
        case Measure.SUM:
            lowest, highest = plan.contribution.clamp
            return (max(lowest, min(sum(values), highest)),)
    assert plan.summand is not None
    lowest, highest = plan.summand.lowest, plan.summand.highest
    centered = sum(2 * value - lowest - highest for value in values)
    scaled = math.floor(Fraction(centered * counted, len(values)) + Fraction(1, 2))
    return scaled, (highest - lowest) * counted


def order_of(unit: str, key: str, salt: bytes) -> str:
    """Return what decides which of a unit's keys are let in: the least."""
    parts = (unit, key, salt.hex())
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def answer(plan: Plan, rows: Iterable[Cells], salt: bytes) -> list[int]:
    """Return the answer in lattice steps; totals are not saturated."""
    sizes = [range(len(grouping)) for grouping in plan.groupings]
    numbers = {places: number for number, places in enumerate(product(*sizes))}
    found: dict[tuple[str, int], list[tuple[int, Cells]]] = defaultdict(list)
    for number, cells in enumerate(rows):
        unit = str(number) if plan.unit is None else value_of(plan.unit, cells)
        places = tuple(_place(each, value_of(each.column, cells)) for each in plan.groupings)
        value = _steps(plan, cells)
        kept = all(holds(each, cells) for each in plan.filters)
        if None in {_height(factor, cells) for factor in plan.factors}:
            continue
        if plan.bins is not None and _bin(plan.bins, cells) is None:
            continue
        if unit is None or value is None or not kept or None in places:
            continue
        key = numbers[places]  # type: ignore[index]  # no None is left
        found[str(unit), key].append((value, cells))
    width = len(plan.flags) + 1 if plan.flags or plan.measure is not Measure.MEAN else 2
    if plan.products is not None:
        width = plan.products.count
    if plan.tree is not None:
        width = plan.tree.size
    totals = [[0] * width for _ in range(plan.keys)]
    units = {unit for unit, _ in found}
    for unit in units:
        reached = sorted(
            (order_of(unit, str(key), salt), key) for owner, key in found if owner == unit
        )
        for _, key in reached[: plan.max_groups]:
            for place, part in enumerate(_parts(plan, found[unit, key])):
                totals[key][place] += part
    return _arranged(plan, totals, len(units))


def _parts(plan: Plan, rows: list[tuple[int, Cells]]) -> list[int]:
    """Return what the rows of one unit give to one key; of flags with the number of rows last."""
    if plan.factors:
        return _products(plan, [cells for _, cells in rows])
    if plan.bins is not None:
        return _nodes(plan, plan.bins, [cells for _, cells in rows])
    if not plan.flags:
        return list(_given(plan, [value for value, _ in rows]))
    true = [sum(value_of(flag, cells) is True for _, cells in rows) for flag in plan.flags]
    return [min(number, plan.max_rows) for number in (*true, len(rows))]


def _tables(marginals: Marginals, counts: list[int]) -> list[int]:
    """Return the protected tables of marginals, cell by cell."""
    cells = list(product(*map(range, marginals.sizes)))
    return [
        weight
        * sum(
            count
            * math.prod(
                marginals.sizes[column] * (cell[column] == key) - 1
                for column, key in zip(columns, keys, strict=True)
            )
            for cell, count in zip(cells, counts, strict=True)
        )
        for columns, weight in zip(marginals.protected, marginals.weights, strict=True)
        for keys in product(*(range(marginals.sizes[column]) for column in columns))
    ]


def _matrix(rows: Given | Spans) -> list[list[int]]:
    """Return the rows of a strategy number by number, by the words of ``rows``."""
    if isinstance(rows, Given):
        return [list(row) for row in rows.rows]
    keys = range(rows.size)
    each = [[int(key == own) for key in keys] for own in keys]
    if rows.name == "marginals":
        return [*each, [1] * rows.size]
    if rows.name == "total":
        return [[1] * rows.size]
    width = 4
    while rows.name == "tree" and -(-rows.size // (width // 4)) > 4:
        each += [
            [int(key // width == node) for key in keys] for node in range(-(-rows.size // width))
        ]
        width *= 4
    return each


def _nodes_of(workload: Workload, counts: list[int]) -> list[int]:
    """Return the product of the strategies, applied to the cells number by number."""
    cells = list(product(*map(range, workload.sizes)))
    return [
        sum(
            count * math.prod(row[key] for row, key in zip(rows, cell, strict=True))
            for cell, count in zip(cells, counts, strict=True)
        )
        for rows in product(*(_matrix(each.strategy) for each in workload.factors))
    ]


def _arranged(plan: Plan, totals: list[list[int]], units: int) -> list[int]:
    nodes = plan.nodes
    if plan.marginals is not None:
        return _tables(plan.marginals, [total for (total,) in totals])
    if plan.workload is not None:
        return _nodes_of(plan.workload, [total for (total,) in totals])
    if plan.flags:
        if nodes is None:
            return [part for parts in totals for part in parts[:-1]]
        if isinstance(nodes, Ellipse):
            return [
                nodes.diagonal * part + nodes.everywhere * sum(parts[:-1])
                for parts in totals
                for part in parts[:-1]
            ]
        taken = [[2 * part - parts[-1] for part in parts[:-1]] for parts in totals]
        if not isinstance(nodes, Lift):
            return taken[0]
        lifted = [
            [*(part << 12 for part in own), parts[-1] * nodes.weight]
            for own, parts in zip(taken, totals, strict=True)
        ]
        return [node for group in lifted for node in group]
    if plan.weights:
        weighed = [map(operator.mul, plan.weights, parts) for parts in totals]
        return [number for parts in weighed for number in parts]
    if plan.factors or plan.bins:
        return [number for parts in totals for number in parts]
    if nodes is None:
        return [number for part in zip(*totals, strict=True) for number in part]
    counts = [total for (total,) in totals]
    if isinstance(nodes, Ellipse):
        common = nodes.everywhere * sum(counts)
        return [nodes.diagonal * count + common for count in counts]
    own = [2 * count - plan.max_rows * units for count in counts]
    if isinstance(nodes, Centered):
        return own
    return [*(node << 12 for node in own), plan.max_rows * units * nodes.weight]
