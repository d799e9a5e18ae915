"""Read a statement as the data half of a spec: the text decides, and no data are looked at."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.connectors.formulas.arithmetic import may_be_missing
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.refusals import checked, pointer, refusal
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.sql.aggregates import aggregates, is_aggregate
from penstock.connectors.sql.conditions import PlacedEntry, conjuncts
from penstock.connectors.sql.derivations import with_derivations
from penstock.connectors.sql.grammar import Node, ParsedStatement, parsed
from penstock.connectors.sql.groupings import PlacedGrouping, groupings, ordering
from penstock.connectors.sql.marginals import Tables, tables
from penstock.connectors.sql.names import Columns, columns_of
from penstock.connectors.sql.places import POINTER, SqlText
from penstock.connectors.sql.statistics import Statistic, statistic
from penstock.errors import InvalidInput
from penstock.spec_fields import folded

_ANY_CONTRIBUTION: Final = {"max_groups": 1, "max_rows_per_group": 1}
"""What stands for a query's own contribution where the statement alone is checked."""

_OF_SQL: Final = ("where", "derived", "group_by", "aggregate", "dataset")
"""The fields of a spec that a statement says."""

_UNORDERED: Final = (
    "ORDER BY is no part of a statistic: groups are answered in the order of the declared"
    " categories. Sort them once they are released."
)


@dataclass(frozen=True)
class Reading:
    """Hold the fields of a spec that a statement says, and where in the text it says them.

    ``notes`` say which rows the spec leaves out that the statement, word by word, would not, and
    that groups are in an order of their own.
    """

    source: SqlText
    fields: dict[str, Any]
    places: Mapping[str, Node] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def require_meaning(self, dataset: DatasetSpec, query: ComputedQuery) -> None:
        """Raise ``InvalidInput`` unless a query that has these fields means something.

        Refusals of what the statement says name the place in its text.
        """
        try:
            interpret(dataset, query)
        except InvalidInput as error:
            raise self.placed(error) from None

    def placed(self, error: InvalidInput) -> InvalidInput:
        """Return a refusal of the spec as one of the statement, where that says what is refused."""
        placed = [self._placed(*each) for each in error.errors]
        if len(placed) == 1:
            return InvalidInput(placed[0][1], pointer=placed[0][0])
        return refusal(placed)

    def _placed(self, at: str, sentence: str) -> tuple[str, str]:
        if at.split("/")[1:2] not in [[name] for name in _OF_SQL]:
            return at, sentence
        longest = max((each for each in self.places if at.startswith(each)), key=len, default="")
        node = self.places.get(longest)
        return POINTER, self.source.placed(0 if node is None else node, sentence)


def read(text: str, dataset: DatasetSpec) -> dict[str, Any]:
    """Return the fields of a spec that a statement says.  Raises ``InvalidInput``.

    They are ``dataset``, ``where``, ``derived``, ``group_by`` and ``aggregate``, without those that
    are empty.
    Errors name the line and the column, and what to write instead, with the pointer ``/sql``.
    """
    return reading(parsed(text), dataset).fields


def table_of(statement: ParsedStatement) -> str:
    """Return the name of the dataset that a statement reads."""
    return str(statement.table.this)


def reading(statement: ParsedStatement, dataset: DatasetSpec) -> Reading:
    """Return what a statement says over its dataset.  Raises ``InvalidInput``."""
    source = statement.source
    if folded(table_of(statement)) != folded(dataset.name):
        raise source.refusal(statement.table, "The statement reads another dataset than this one.")
    columns, derivations = with_derivations(columns_of(statement, dataset), statement.expressions)
    selected = [node for node in statement.expressions if not is_aggregate(node)]
    several = tables(statement, columns, selected)
    grouped = groupings(statement, columns, selected) if several is None else several.groupings
    joined = statistic(aggregates(statement, columns), columns)
    clause = statement.select.args.get("where")
    conditions = [] if clause is None else conjuncts(clause.this, columns)
    where = _once(
        [*conditions, *joined.where, *(each for group in grouped for each in group.where)]
    )
    notes = [] if several is None else list(several.notes(where, columns))
    fields: dict[str, Any] = {"dataset": dataset.name, "aggregate": joined.aggregate}
    if several is not None:
        fields["aggregate"] = several.aggregate(joined, columns)
        where = several.conditions(where, columns)
    elif grouped:
        fields["group_by"] = [each.grouping for each in grouped]
    if where:
        fields["where"] = [each.entry for each in where]
    used = set(_names_in(fields))
    derived = {name: part for name, part in derivations.expressions.items() if name in used}
    if derived:
        fields["derived"] = derived
    never_missing = _never_missing(columns, where, grouped, joined.needed)
    notes += list(_notes(source, joined, never_missing, derivations.expressions))
    key = ordering(statement, columns, grouped)
    if key is not None:
        notes.append(source.placed(key, _UNORDERED))
    places = {
        pointer("dataset"): statement.table,
        **_places(where, grouped, joined, several),
        **{pointer("derived", name): node for name, node in derivations.nodes.items()},
    }
    understood = Reading(source, fields, places, tuple(notes))
    _require_meaning(understood, dataset)
    return understood


def _names_in(part: object) -> Iterator[str]:
    """Yield all texts in fields of a spec, the names of columns among them."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping | list):
        for inner in part.values() if isinstance(part, Mapping) else part:
            yield from _names_in(inner)


def _once(entries: Sequence[PlacedEntry]) -> list[PlacedEntry]:
    """Return the entries without repetitions."""
    kept: list[PlacedEntry] = []
    for each in entries:
        if all(each.entry != other.entry for other in kept):
            kept.append(each)
    return kept


def _places(
    where: Sequence[PlacedEntry],
    grouped: Sequence[PlacedGrouping],
    joined: Statistic,
    several: Tables | None,
) -> dict[str, Node]:
    at = ("group_by",) if several is None else ("aggregate", "columns")
    return {
        **{pointer("where", place): each.node for place, each in enumerate(where)},
        **{pointer(*at, place): each.node for place, each in enumerate(grouped)},
        pointer("aggregate"): joined.parts[0].node if several is None else several.node,
    }


def _never_missing(
    columns: Columns,
    where: Sequence[PlacedEntry],
    grouped: Sequence[PlacedGrouping],
    needed: Sequence[str],
) -> set[str]:
    """Return columns that have a value in every row that counts, those of ``needed`` among them."""
    conditions = (each.entry for each in where)
    named = {entry["column"] for entry in conditions if entry.get("op", "is_null") != "is_null"}
    named |= {each.grouping["column"] for each in grouped}
    return named | {name for name in needed if not may_be_missing(columns.spec(name))}


def _notes(
    source: SqlText, joined: Statistic, never_missing: set[str], derived: Collection[str]
) -> Iterator[str]:
    """Yield what the spec leaves out for each aggregate that SQL would count more rows for."""
    for each in joined.parts:
        others = [
            name
            for name in joined.needed
            if name not in never_missing and (name not in each.columns)
        ]
        if others and len(joined.parts) > 1:
            names = " and ".join(_there(name, derived) for name in others)
            yield source.placed(
                each.node,
                f"A row counts here only where {names}, since all of one vector is over the same"
                " rows; in SQL it counts in other rows too. Write the condition in WHERE to say"
                " so, or write a statement of its own.",
            )


def _there(name: str, derived: Collection[str]) -> str:
    computed = ", which is computed here, has a value"
    return name[:64] + (computed if name in derived else " IS NOT NULL")


def _require_meaning(understood: Reading, dataset: DatasetSpec) -> None:
    """Raise ``InvalidInput``, placed in the text, unless the fields mean something."""
    sent = {"name": "statement", **understood.fields, "contribution": _ANY_CONTRIBUTION}
    try:
        query: ComputedQuery = checked(ComputedQuery, sent)
    except InvalidInput as error:
        raise understood.placed(error) from None
    understood.require_meaning(dataset, query)
