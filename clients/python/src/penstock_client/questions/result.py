"""Represent the answer to a question as a table: value, lower and upper, by group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Self

from penstock_client._http.fields import Fields, Key
from penstock_client._show.rounding import percent, short
from penstock_client.dummy import Frames
from penstock_client.figures import printable
from penstock_client.queries import Query
from penstock_client.release import Release
from penstock_client.tables.aggregates import Output

MOST_SHOWN = 200
WHOLE = "all"
"""The key of an answer without groups."""


@dataclass(frozen=True)
class Row:
    """Hold one number: its group, its statistic, its value, and the ends of its interval.

    The numbers are None where the noise of the level is too large for any.
    """

    group: tuple[object, ...]
    statistic: str
    value: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, repr=False)
class Numbers(Frames):
    """Hold numbers by group; ``groups`` are the names of the columns that they are grouped by."""

    groups: tuple[str, ...]
    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def statistics(self) -> tuple[str, ...]:
        """Return the names of the statistics, each once."""
        return tuple(dict.fromkeys(row.statistic for row in self.rows))

    def wide(self) -> dict[str, list[object]]:
        """Return one column for each group and each statistic, with a row for each group.

        The ends of intervals are left out; ``to_pandas`` and the others have them.
        """
        cells: dict[tuple[object, ...], dict[str, float | None]] = {}
        for row in self.rows:
            cells.setdefault(row.group, {})[row.statistic] = row.value
        columns: dict[str, list[object]] = {
            name: [group[place] for group in cells] for place, name in enumerate(self.groups)
        }
        for statistic in self.statistics:
            columns[statistic] = [own.get(statistic) for own in cells.values()]
        return columns

    def _columns(self) -> Mapping[str, Sequence[object]]:
        columns: dict[str, list[object]] = {
            name: [row.group[place] for row in self.rows] for place, name in enumerate(self.groups)
        }
        for name in ("statistic", "value", "lower", "upper"):
            columns[name] = [getattr(row, name) for row in self.rows]
        return columns

    def _count(self) -> str:
        return "1 number" if len(self) == 1 else f"{len(self):,} numbers"


@dataclass(frozen=True, repr=False)
class DummyResult(Numbers):
    """Hold the exact answer to a question on made-up rows of ``dataset``; both ends are the value.

    It says nothing about the data.
    """

    dataset: str

    @classmethod
    def read(cls, fields: Fields, outputs: Sequence[Output] | None) -> Self:
        """Return the numbers of a server's answer.  Raises ``ProtocolError``."""
        rows = []
        for each in fields.children("numbers"):
            group, value = _parts(each.key_or_none("key")), each.number_or_none("value")
            rows.append(Row(group, each.text("statistic"), value, value, value))
        named = tuple(_named(rows, outputs or ()))
        return cls(fields.texts("groups"), named, fields.text("dataset"))

    def __repr__(self) -> str:
        return f"<Exact answer on made-up rows of {self.dataset!r}: {self._count()}>"


@dataclass(frozen=True, repr=False)
class Result(Numbers):
    """Hold the answer to a question, with the release that it was read from.

    The intervals are at the release's confidence, each by itself.
    """

    release: Release

    def __repr__(self) -> str:
        return f"<Result of {self.release.query!r}: {self._count()}. {self.release!r}>"

    def _repr_html_(self) -> str:
        confidence = percent(self.release.error.confidence)
        heads = (*self.groups, "statistic", "value", f"lower {confidence}", f"upper {confidence}")
        head = "".join(f"<th>{escape(printable(name))}</th>" for name in heads)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(printable(str(cell)))}</td>" for cell in (*row.group, row.statistic)
            )
            + "".join(
                f"<td>{'-' if number is None else short(number, 5)}</td>"
                for number in (row.value, row.lower, row.upper)
            )
            + "</tr>"
            for row in self.rows[:MOST_SHOWN]
        )
        more = len(self.rows) - MOST_SHOWN
        note = f"<p>{more:,} more rows; <code>.to_pandas()</code> has all.</p>" if more > 0 else ""
        caption = "<br>".join(escape(printable(line)) for line in self.release.caption())
        return (
            f"<div><p><strong>{escape(printable(self.release.query))}</strong><br>{caption}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}</div>"
        )


def result_of(query: Query, release: Release, outputs: Sequence[Output] | None) -> Result:
    """Return the answer in a release of a query, with the names of ``outputs``.

    Without them, and where one of them is not in the release, all statistics have the names that
    they have there.
    """
    spec = query.answer.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    aggregate = spec.get("aggregate")
    aggregate = aggregate if isinstance(aggregate, Mapping) else {}
    rows = list(_rows(release, aggregate))
    parts = max((len(row.group) for row in rows), default=0)
    named = _named(rows, outputs or ())
    return Result(_group_names(spec, aggregate, parts), tuple(named), release)


def _rows(release: Release, aggregate: Mapping[str, object]) -> Iterator[Row]:
    """Yield the numbers of a release by the names of its statistics."""
    if release.estimates:
        for each in release.estimates:
            yield Row(_parts(each.key), each.name, each.value, each.lower, each.upper)
        return
    statistic = _statistic(aggregate)
    interval = release.interval(release.error.confidence)
    for key, value, (lower, upper) in zip(release.keys, release.values, interval, strict=True):
        yield Row(_parts(key), statistic, value, lower, upper)


def _parts(key: Key | None) -> tuple[object, ...]:
    if key is None or key == WHOLE:
        return ()
    return key if isinstance(key, tuple) else (key,)


def _statistic(aggregate: Mapping[str, object]) -> str:
    """Return the name of the single statistic of a query, as ``Output`` has it."""
    kind, column = aggregate.get("type"), aggregate.get("column")
    match kind:
        case "count" | "histogram":
            return "n"
        case "count_units":
            return "units"
        case _:
            return str(kind or "value") if column is None else f"{kind}:{column}"


def _group_names(
    spec: Mapping[str, object], aggregate: Mapping[str, object], parts: int
) -> tuple[str, ...]:
    """Return the names of the columns that keys are of, if the spec has as many."""
    groups = spec.get("group_by")
    names = [
        str(group["column"])
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, Mapping) and "column" in group
    ]
    if aggregate.get("type") == "histogram":
        names.append(str(aggregate.get("column")))
    if len(names) == parts:
        return tuple(names)
    return ("key",) if parts == 1 else tuple(f"key_{place + 1}" for place in range(parts))


def _named(rows: Sequence[Row], outputs: Sequence[Output]) -> list[Row]:
    """Return the rows of the outputs under their names; all rows if an output is not there."""
    names = {_folded(row.statistic) for row in rows}
    if not outputs or any(_folded(output.statistic) not in names for output in outputs):
        return list(rows)
    chosen: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        chosen.setdefault(row.group, {})[_folded(row.statistic)] = row
    return [
        replace(own[_folded(output.statistic)], statistic=output.name)
        for own in chosen.values()
        for output in outputs
        if _folded(output.statistic) in own
    ]


def _folded(statistic: str) -> str:
    """Return a statistic's name without case; of two columns the order does not matter."""
    kind, _, columns = statistic.casefold().partition(":")
    if kind in {"covariance", "correlation"}:
        columns = ",".join(sorted(columns.split(",")))
    return f"{kind}:{columns}"
