"""Read several sets of groupings, ``GROUPING SETS``, ``CUBE`` and ``ROLLUP``, as marginals.

A row outside of one column's keys is in no table of a spec.  In SQL it counts in the tables that do
not have the column.  So the conditions that cells are among their keys make no other statistic,
and where they are missing the preview says so.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from penstock.connectors.formulas.arithmetic import DerivedSpec, may_be_missing
from penstock.connectors.specs.models import ColumnSpec
from penstock.connectors.specs.moments import MOST_FACTORS, MOST_TABLES
from penstock.connectors.sql.conditions import Entry, PlacedEntry, beyond
from penstock.connectors.sql.grammar import SETS, Node, ParsedStatement
from penstock.connectors.sql.groupings import (
    PlacedGrouping,
    grouping_of,
    referenced,
    require_few,
    require_grouped,
)
from penstock.connectors.sql.names import Columns
from penstock.connectors.sql.statistics import Statistic
from penstock.connectors.sql.synonyms import unwrapped
from penstock.structures.marginals.lattice import up_to

_MOST_SPELLINGS: Final = 64
"""The most spellings of groupings in one statement: each is looked up, and its bins are made."""

_Set = frozenset[int]
"""The places of the groupings of one table."""

_TOTAL: Final = (
    "The set () is no table of its own: the total is the sum of the cells of any table, at no"
    " charge."
)


@dataclass(frozen=True)
class Tables:
    """Hold the groupings of a statement's tables, once each, and their places in each table.

    ``node`` is the clause.  With ``has_total`` it names the set of no columns, too.
    """

    node: Node
    groupings: tuple[PlacedGrouping, ...]
    sets: tuple[tuple[int, ...], ...]
    has_total: bool

    def aggregate(self, joined: Statistic, columns: Columns) -> dict[str, Any]:
        """Return the aggregate of a spec.  Raises ``InvalidInput`` unless rows are counted."""
        if joined.aggregate != {"type": "count"}:
            raise columns.source.refusal(
                joined.parts[0].node,
                "Several sets of columns are marginals, which count rows. Select COUNT(*) alone,"
                " say with WHERE which rows count, or write a statement for each set.",
            )
        several = [each.grouping for each in self.groupings]
        made: dict[str, Any] = {"type": "marginals", "columns": several}
        for order in range(1, len(several) + 1):
            if set(up_to(len(several), order)) == set(self.sets):
                return {**made, "up_to": order}
        names = [each["column"] for each in several]
        return {**made, "sets": [[names[place] for place in each] for each in self.sets]}

    def conditions(self, where: Sequence[PlacedEntry], columns: Columns) -> list[PlacedEntry]:
        """Return the conditions that are not about the keys, which marginals have by themselves."""
        implied = [
            entry
            for each in self.groupings
            for entry in within_keys(each.grouping, columns.spec(each.grouping["column"]))
        ]
        return [each for each in where if all(not _is_same(each.entry, key) for key in implied)]

    def notes(self, where: Sequence[PlacedEntry], columns: Columns) -> Iterator[str]:
        """Yield what the spec leaves out that SQL would count, or count otherwise."""
        entries = [each.entry for each in where]
        outside = [
            each.grouping["column"][:64]
            for place, each in enumerate(self.groupings)
            if not all(place in each_set for each_set in self.sets)
            and not _is_within(each.grouping, columns, entries)
        ]
        if outside:
            yield columns.source.placed(
                self.node,
                "A row counts here only where its cells are among the keys of all columns; in SQL"
                f" a row outside of those of {', '.join(outside)} counts in the tables of the other"
                " columns. Write the conditions in WHERE to say so, as the statement of the preview"
                " has them.",
            )
        if self.has_total:
            yield columns.source.placed(self.node, _TOTAL)


def tables(statement: ParsedStatement, columns: Columns, selected: Sequence[Node]) -> Tables | None:
    """Return the tables of a statement that groups in several ways; None of any other.

    ``selected`` are the selected expressions that are no aggregates; each is one of the groupings.
    Raises ``InvalidInput``.
    """
    group = statement.select.args.get("group")
    if group is None or not any(isinstance(each, SETS) for each in group.expressions):
        return None
    _require_few_sets(group, columns)
    reader = _Reader(statement, columns)
    sets = [tuple(sorted(each)) for each in reader.sets(group)]
    if len(set(sets)) < len(sets):
        raise columns.source.refusal(
            group,
            "A set of columns is named twice, so that its groups would be listed twice. Name each"
            " set once.",
        )
    named = tuple(each for each in sets if each)
    if not named:
        raise columns.source.refusal(group, "Name a column in one of the sets, or leave them out.")
    require_few(selected, statement)
    require_grouped(selected, reader.groupings, columns)
    return Tables(group, tuple(reader.groupings), named, len(named) < len(sets))


def within_keys(grouping: Mapping[str, Any], spec: ColumnSpec) -> list[Entry]:
    """Return the conditions that hold where a column's cell is among the keys of a grouping."""
    name, bins = grouping["column"], grouping.get("bins")
    if bins is None and (spec.type == "boolean" or isinstance(spec, DerivedSpec)):
        # These have no other cells than their keys.
        return [{"column": name, "op": "is_not_null"}] if may_be_missing(spec) else []
    if bins is None:
        return [{"column": name, "op": "in", "value": list(spec.categories or ())}]
    return [beyond(name, ">=", bins[0], spec.type), beyond(name, "<=", bins[-1], spec.type)]


def _is_same(entry: Entry, other: Entry) -> bool:
    if entry.get("column") != other["column"] or entry["op"] != other["op"]:
        return False
    left, right = entry.get("value"), other.get("value")
    if isinstance(left, list) and isinstance(right, list):
        return set(left) == set(right)
    return bool(left == right)


def _is_within(grouping: Mapping[str, Any], columns: Columns, entries: Sequence[Entry]) -> bool:
    """Return True if conditions leave no row that is outside of the keys of a grouping."""
    name = grouping["column"]
    own = [entry for entry in entries if entry.get("column") == name and entry["op"] != "is_null"]
    match within_keys(grouping, columns.spec(name)):
        case []:
            return True
        case [{"op": "is_not_null"}]:
            return bool(own)
        case [{"op": "in"}]:
            # What is compared with is declared, so that it is among the keys.
            return any(entry["op"] in {"=", "in"} for entry in own)
        case several:
            low, high = (each["value"] for each in several)
    above = any(entry["op"] in {">", ">=", "="} and entry["value"] >= low for entry in own)
    return above and any(
        entry["op"] in {"<", "<=", "="} and entry["value"] <= high for entry in own
    )


class _Reader:
    """Look up the groupings that sets name, each once, in the order in which they come."""

    def __init__(self, statement: ParsedStatement, columns: Columns) -> None:
        self._statement, self._columns = statement, columns
        self._known: dict[Node, int] = {}
        self.groupings: list[PlacedGrouping] = []

    def sets(self, node: Node) -> list[_Set]:
        """Return the places of the groupings of each set that a part of the clause stands for."""
        match node:
            case exp.Group():
                several = itertools.product(*map(self.sets, node.expressions))
                return [_united(each) for each in several]
            case exp.GroupingSets():
                return [each for part in node.expressions for each in self.sets(part)]
            case exp.Cube():
                parts = [self._set(each) for each in node.expressions]
                sizes = range(len(parts), -1, -1)
                chosen = (itertools.combinations(parts, size) for size in sizes)
                return [_united(each) for each in itertools.chain(*chosen)]
            case exp.Rollup():
                parts = [self._set(each) for each in node.expressions]
                return [_united(parts[:size]) for size in range(len(parts), -1, -1)]
        return [self._set(node)]

    def _set(self, node: Node) -> _Set:
        several = node.expressions if isinstance(node, exp.Tuple) else [node]
        return frozenset(self._place(unwrapped(each)) for each in several)

    def _place(self, node: Node) -> int:
        if node not in self._known:
            self._known[node] = self._new_place(node)
        return self._known[node]

    def _new_place(self, node: Node) -> int:
        source = self._columns.source
        if len(self._known) == _MOST_SPELLINGS:
            raise source.refusal(node, "Write each grouping in one way, or by its number.")
        read = grouping_of(referenced(self._statement, self._columns, node), self._columns)
        for place, each in enumerate(self.groupings):
            if each.grouping == read.grouping:
                return place
        if len(self.groupings) == MOST_FACTORS:
            raise source.refusal(
                node,
                f"A query has marginals of at most {MOST_FACTORS} columns, and this is one more."
                " Write several statements.",
            )
        self.groupings.append(read)
        return len(self.groupings) - 1


def _united(sets: Iterable[_Set]) -> _Set:
    return frozenset(itertools.chain(*sets))


def _require_few_sets(group: Node, columns: Columns) -> None:
    """Raise ``InvalidInput`` for too many sets, which are counted before any of them is made."""
    for node in group.find_all(exp.Cube):
        if len(node.expressions) > MOST_FACTORS:
            raise columns.source.refusal(
                node,
                f"This CUBE has {len(node.expressions)} columns, and a query has marginals of at"
                f" most {MOST_FACTORS}. Name the sets with GROUPING SETS.",
            )
    if _count(group) > MOST_TABLES:
        raise columns.source.refusal(
            group,
            f"These are more than {MOST_TABLES} sets of columns, which are the most of a query."
            " Name fewer sets, or smaller ones.",
        )


def _count(node: Node) -> int:
    match node:
        case exp.Group():
            return math.prod(map(_count, node.expressions))
        case exp.GroupingSets():
            return sum(map(_count, node.expressions))
        case exp.Cube():
            return int(2 ** len(node.expressions))
        case exp.Rollup():
            return len(node.expressions) + 1
    return 1
