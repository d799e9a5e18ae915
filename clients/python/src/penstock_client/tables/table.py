"""Build a question about a dataset step by step; nothing is read, and nothing is charged."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape

from penstock_client.errors import InvalidArgument
from penstock_client.figures import printable
from penstock_client.models import Dataset
from penstock_client.questions.asker import Asker
from penstock_client.questions.question import Question
from penstock_client.questions.terms import Terms
from penstock_client.tables.aggregates import combined
from penstock_client.tables.conditions import Condition, Entry, Joined, condition_of
from penstock_client.tables.expressions import Aggregate, Bins, Column, Expression, col, operand
from penstock_client.tables.names import Names

Grouping = str | Expression | Bins


@dataclass(frozen=True, eq=False)
class Table:
    """Represent a dataset, some of its rows, and columns that are computed from its own.

    Every method returns another table.  Columns are those that the dataset declares.
    """

    session: Asker = field(repr=False)
    dataset: Dataset
    conditions: tuple[Condition, ...] = ()
    added: Mapping[str, Expression] = field(default_factory=dict)
    groups: tuple[tuple[Expression, tuple[float, ...] | None], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns, with those that ``mutate`` added."""
        return (*self.dataset.columns, *self.added)

    def filter(self, *conditions: object) -> "Table":
        """Return the rows for which all conditions hold; a boolean column is one by itself.

        Raises ``InvalidArgument`` for anything that is no condition on columns of the table.
        """
        if not conditions:
            raise InvalidArgument('filter takes conditions, for example col("age") >= 18.')
        flat: list[Condition] = []
        for each in map(condition_of, conditions):
            joined = isinstance(each, Joined) and each.how == "all"
            flat += each.flat() if isinstance(each, Joined) and joined else [each]
        for condition in flat:
            for subject in condition.subjects():
                self._names().require(subject)
        return replace(self, conditions=(*self.conditions, *flat))

    def mutate(self, **columns: object) -> "Table":
        """Return the table with columns added, each an expression of the others.

        Raises ``InvalidArgument`` for a name that is taken, and for unknown columns.
        """
        added = dict(self.added)
        for name, value in columns.items():
            if name in self.dataset.columns or name in added:
                raise InvalidArgument(
                    f"There is a column {name!r} already; give the new one another name."
                )
            expression = operand(value)
            Names(self.dataset.name, self.dataset.columns, added).require(expression)
            added[name] = expression
        return replace(self, added=added)

    def group_by(self, *groups: Grouping) -> "Table":
        """Return the table with a group for each key of these columns, or of bins of them.

        A column's keys are its declared categories; ``col("age").bin([18, 30, 65])`` has bins.
        Raises ``InvalidArgument`` for anything else.
        """
        pairs: list[tuple[Expression, tuple[float, ...] | None]] = []
        for each in groups:
            if isinstance(each, Bins):
                pairs.append((each.subject, each.edges))
            elif isinstance(each, str | Expression):
                pairs.append((col(each) if isinstance(each, str) else each, None))
            else:
                raise InvalidArgument(
                    'group_by takes columns and bins: group_by("area", col("age").bin([18, 65])).'
                )
            self._names().require(pairs[-1][0])
            self._require_keys(*pairs[-1])
        return replace(self, groups=(*self.groups, *pairs))

    def aggregate(self, *unnamed: Aggregate, **named: Aggregate) -> Question:
        """Return the question for statistics of each group, all in one release.

        Their names are those in the result.  The question costs nothing before it is registered:
        ``at`` gives it a level.  Raises ``InvalidArgument`` for statistics that do not go
        together, or are none.
        """
        aggregates = {**{_name(each): each for each in unnamed}, **named}
        for each in aggregates.values():
            if not isinstance(each, Aggregate):
                raise InvalidArgument(_NO_STATISTIC)
        if not aggregates:
            raise InvalidArgument(_NO_STATISTIC)
        names = self._names()
        where: list[Entry] = [condition.entry(names.name_of) for condition in self.conditions]
        group_by: list[Entry] = []
        for expression, bins in self.groups:
            group: Entry = {"column": names.name_of(expression)}
            group_by.append(group if bins is None else {**group, "bins": list(bins)})
        aggregate, outputs = combined(aggregates, names)
        parts = {"where": where, "derived": names.derived, "group_by": group_by}
        spec = {"dataset": self.dataset.name, **{key: part for key, part in parts.items() if part}}
        return Question(self.session, {**spec, "aggregate": aggregate}, Terms(), outputs)

    agg = aggregate

    def _names(self) -> Names:
        return Names(self.dataset.name, self.dataset.columns, self.added)

    def _require_keys(self, expression: Expression, bins: tuple[float, ...] | None) -> None:
        """Raise ``InvalidArgument`` for a column that has no keys to group by."""
        if bins is not None or not isinstance(expression, Column) or expression.name in self.added:
            return
        declared = self.dataset.columns[expression.name]
        is_open = isinstance(declared, Mapping) and not declared.get("categories")
        if is_open and isinstance(declared, Mapping) and declared.get("type") != "boolean":
            raise InvalidArgument(
                f"Column {expression.name!r} declares no categories, and keys are never read from"
                f' the data. Give bins, for example col("{expression.name}").bin([0, 10, 20]), or'
                " have its categories declared."
            )

    def __repr__(self) -> str:
        parts = [f"{len(self.dataset.columns)} columns"]
        if self.added:
            parts.append(f"and {', '.join(self.added)}")
        if self.conditions:
            parts.append(f"filtered by {len(self.conditions)}")
        if self.groups:
            parts.append(f"in {len(self.groups)} groupings")
        return f"<Table {printable(self.dataset.name)}: {printable(', '.join(parts))}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("column", "type", "values"))
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>"
            for row in self._declarations()
        )
        return (
            f"<div><p><strong>{escape(printable(self.dataset.name))}</strong></p><table><thead>"
            f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _declarations(self) -> list[tuple[str, str, str]]:
        rows = []
        for name, declared in self.dataset.columns.items():
            if isinstance(declared, Mapping):
                rows.append((name, str(declared.get("type", "")), values_of(declared)))
        return rows + [(name, "derived", str(each)) for name, each in self.added.items()]


MOST_SHOWN = 8
_NO_STATISTIC = (
    'aggregate takes statistics: aggregate(n=count(), mean=col("age").mean()). A column by itself'
    " is none."
)


def values_of(declared: Mapping[str, object]) -> str:
    """Return what a declared column may hold, in words: its categories or its bounds."""
    categories = declared.get("categories")
    if isinstance(categories, list):
        more = len(categories) - MOST_SHOWN
        shown = ", ".join(map(str, categories[:MOST_SHOWN]))
        return f"{shown} and {more} more" if more > 0 else shown
    lower, upper = declared.get("lower"), declared.get("upper")
    if lower is None and upper is None:
        return ""
    return f"{'' if lower is None else lower} to {'' if upper is None else upper}"


def _name(aggregate: object) -> str:
    """Return the name of a statistic without one."""
    if not isinstance(aggregate, Aggregate):
        raise InvalidArgument(_NO_STATISTIC)
    probability = () if aggregate.probability is None else (f"{aggregate.probability:g}",)
    return "_".join((aggregate.kind, *map(str, aggregate.parts), *probability))
