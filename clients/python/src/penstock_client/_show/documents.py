"""Turn what each command prints into columns and rows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from penstock_client._log.notes import Checkpoint
from penstock_client._show.frames import label
from penstock_client._show.output import Column, Document
from penstock_client._show.rounding import percent, short
from penstock_client._show.row_documents import report_line, reported_values
from penstock_client.figures import decimals, fixed
from penstock_client.models import (
    Budget,
    Dataset,
    ErrorBars,
    Exposure,
    HistoryItem,
    Level,
    PrivacyLoss,
)
from penstock_client.preview import Preview, Strategy, TierPreview
from penstock_client.queries import Query, TierLevel
from penstock_client.release import Release


def number(cell: object) -> str:
    """Return a number to three significant digits."""
    return short(cast("float | None", cell))


def share(cell: object) -> str:
    """Return a part of a budget as a percentage."""
    return f"{short(100 * cast('float', cell))}%"


def _level(cell: object) -> str:
    return short(cast("float", cell), 6)


def _time(cell: object) -> str:
    moment = datetime.fromisoformat(cast("str", cell))
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


Row = tuple[object, ...]
EPSILON = Column("epsilon", number, right=True)
DELTA = Column("delta", number, right=True)
LEVEL = (Column("parameter"), Column("level", _level, right=True))
ERROR = (
    Column("standard_deviation", None),
    Column("half_width", number, right=True, heading="margin of error"),
    Column("confidence", lambda cell: percent(cast("float", cell)), right=True),
)


def datasets(answers: Sequence[Dataset]) -> Document:
    """Return datasets, with one row for each tier of each."""
    rows = [
        (item.name, item.version, _unit(item.privacy_unit), item.neighboring, *budget)
        for item in answers
        for budget in _budgets(item)
    ]
    columns = (
        Column("dataset"),
        Column("version", right=True),
        Column("privacy_unit"),
        Column("neighboring"),
        Column("tier"),
        EPSILON,
        DELTA,
    )
    shared = [
        f"{item.name} has the same people as {', '.join(item.same_people_as)}:"
        " their privacy losses add up."
        for item in answers
        if item.same_people_as
    ]
    note = " ".join(shared) if answers else "No datasets are registered."
    return Document([item.answer for item in answers], columns, rows, note=note)


def queries(answers: Sequence[Query]) -> Document:
    """Return queries, with one row for each tier of each."""
    rows = [
        (query.name, query.dataset, query.mechanism, query.dimension, query.status, *tier)
        for query in answers
        for tier in _tiers(query)
    ]
    columns = (
        Column("query"),
        Column("dataset"),
        Column("mechanism"),
        Column("values", lambda cell: fixed(cast("int", cell), 0), right=True),
        Column("status"),
        Column("tier"),
        *LEVEL,
        EPSILON,
        DELTA,
        *ERROR,
    )
    note = "" if answers else "No query is visible to you."
    return Document([query.answer for query in answers], columns, rows, note=note)


def preview(answer: Preview) -> Document:
    """Return what a query would cost, with one row for each tier."""
    rows = [
        (
            *(*tier_cells(item), *charge_cells(item), _composed(item)),
            *(item.expected_maximum, item.epsilon_at_delta),
        )
        for item in answer.tiers
    ]
    # A registered query has been charged already, so that the remaining room does not matter.
    with_room = any(item.room is not None for item in answer.tiers)
    read = any(item.epsilon_at_delta is not None for item in answer.tiers)
    columns = (
        *(Column("tier"), *LEVEL, EPSILON, DELTA, *ERROR),
        *charge_columns(with_room=with_room),
        _added_up(answer.tiers),
        Column("expected_maximum", number if answer.powers else None, right=True),
        Column("epsilon_at_delta", number if read else None, right=True),
    )
    numbers = "1 number" if answer.dimension == 1 else f"{answer.dimension:,} numbers"
    facts = (
        f"{answer.query or ''}",
        f"  {numbers}, {norms(answer.sensitivity)}",
        *_strategies(answer.strategies),
        *((f"  {answer.powers.reason}",) if answer.powers else ()),
        *(tier.ranks_in_words() for tier in answer.tiers if tier.ranks),
        *(line for tier in answer.tiers for line in tier.expected_in_words()),
    )
    return Document(answer.answer, columns, rows, facts, note=answer.refusal or "")


def _strategies(strategies: Sequence[Strategy]) -> Iterator[str]:
    """Yield a line on each strategy for a workload, with each tier's errors, and what they are."""
    if strategies:
        yield "  strategies: margin of error of the worst answer (standard deviation in the mean)"
    for each in strategies:
        errors = ", ".join(
            f"±{number(tier.half_width)} ({number(tier.mean_deviation)}) at {tier.tier}"
            for tier in each.tiers
        )
        name = each.name or "that of the query"
        yield f"    {name}: {errors}" + (" (as requested)" if each.requested else "")


def _added_up(tiers: Sequence[TierLevel]) -> Column:
    """Return the column of composed epsilons, shown only if a query's levels add up."""
    shown = any(item.composed for item in tiers)
    return Column("composed_epsilon", number if shown else None, right=True)


def _composed(item: TierLevel) -> float | None:
    return None if item.composed is None else item.composed.epsilon


def norms(sensitivity: Mapping[str, float]) -> str:
    """Return a sensitivity in words."""
    return "sensitivity " + ", ".join(f"{norm} {short(by)}" for norm, by in sensitivity.items())


def tier_cells(item: TierLevel) -> Row:
    """Return the cells of a tier, its level, its guarantee and its error."""
    return (
        item.tier,
        *_levels(item.level),
        item.guarantee.epsilon,
        item.guarantee.delta,
        *_error(item.error),
    )


def charge_columns(*, with_room: bool) -> tuple[Column, ...]:
    """Return the columns of a charge, and with ``with_room`` those of the room for it."""
    return (
        *(Column(name, None) for name in ("order", "loss", "failure")),
        Column("charged_share", share, right=True),
        *(
            Column(name, share if with_room else None, right=True)
            for name in ("remaining_share", "largest_share")
        ),
        Column("fits", yes_or_no if with_room else None),
    )


def charge_cells(item: TierPreview) -> Row:
    """Return the cells of ``charge_columns``."""
    charge, room = item.charge, item.room
    return (
        *(charge.order, charge.loss, charge.failure, charge.share),
        *((None,) * 3 if room is None else (room.remaining_share, room.largest_share, room.fits)),
    )


def yes_or_no(cell: object) -> str:
    """Return a boolean as yes or no."""
    return "yes" if cell else "no"


def release(answer: Release) -> Document:
    """Return a release, with one row for each value, or for each estimate if it has any."""
    if answer.estimates:
        return _estimated(answer)
    digits = decimals(answer.error.standard_deviation)

    def rounded(cell: object) -> str:
        return fixed(cast("float", cell), digits)

    parts = max((len(key) if isinstance(key, tuple) else 1 for key in answer.keys), default=1)
    names = ["key"] if parts == 1 else [f"key_{index + 1}" for index in range(parts)]
    columns = (
        *(Column(name) for name in names),
        *(Column(name, rounded, right=True) for name in ("value", "lower", "upper")),
    )
    rows: list[Row] = [
        (*_parts(key, parts), value, lower, upper)
        for key, value, (lower, upper) in zip(
            answer.keys, answer.values, answer.interval(answer.error.confidence), strict=True
        )
    ]
    reported = reported_values(answer)
    if reported is None:
        return Document(answer.answer, columns, rows, _facts(answer))
    rows = [(*row, cell) for row, cell in zip(rows, reported, strict=True)]
    columns = (*columns, Column("reported", rounded, right=True))
    return Document(answer.answer, columns, rows, (*_facts(answer), f"  {report_line(answer)}"))


def _facts(answer: Release) -> Sequence[str]:
    place = "" if answer.receipt.index is None else f", leaf {answer.receipt.index} of the log"
    return (
        f"{answer.query}",
        *(f"  {line}" for line in answer.caption()),
        f"  release {answer.id} of {_time(answer.released_at.isoformat())}{place}",
    )


def _estimated(answer: Release) -> Document:
    """Return a release with one row for each estimate; a blank stands for too much noise."""
    grouped = answer.estimates[0].key is not None
    columns = (
        *([Column("key")] if grouped else []),
        Column("statistic"),
        *(Column(name, _figure, right=True) for name in ("value", "lower", "upper")),
    )
    rows = [
        (
            *([] if each.key is None else [label(each.key)]),
            each.name,
            *(each.value, each.lower, each.upper),
        )
        for each in answer.estimates
    ]
    return Document(answer.answer, columns, rows, _facts(answer))


def _figure(cell: object) -> str:
    return "" if cell is None else short(cast("float", cell), 5)


def history(history_items: Sequence[HistoryItem]) -> Document:
    """Return who was given which release, with one row for each time."""
    rows = [
        (
            None if item.released_at is None else item.released_at.isoformat(),
            item.user,
            item.query,
            item.dataset,
            item.tier,
            item.mechanism,
            *_levels(item.level),
            item.guarantee.epsilon,
            item.guarantee.delta,
            *_error(item.error),
            item.id,
            None if item.receipt is None else item.receipt.index,
        )
        for item in history_items
    ]
    columns = (
        Column("released_at", _time),
        Column("user"),
        Column("query"),
        Column("dataset"),
        Column("tier"),
        Column("mechanism", None),
        *LEVEL,
        EPSILON,
        DELTA,
        *ERROR,
        Column("id"),
        Column("leaf", right=True),
    )
    note = "" if history_items else "Nothing has been released to you yet."
    return Document([item.answer for item in history_items], columns, rows, note=note)


def exposure(answer: Exposure) -> Document:
    """Return an exposure, with one row for each query and then one for each composed loss."""
    totals: list[tuple[str, str | None, PrivacyLoss]] = [
        ("could be", None, answer.could_be),
        ("released", None, answer.released),
        ("independent", None, answer.independent),
    ]
    for name, reach in (("reach", answer.reach), ("registrars", answer.registrars)):
        if reach is not None:
            totals.append((name, reach.tier, reach.budget))
    rows: list[Row] = [
        ("query", item.query, *_levels(item.level), item.guarantee.epsilon, item.guarantee.delta)
        for item in answer.queries
    ]
    rows += [(name, tier, None, None, loss.epsilon, loss.delta) for name, tier, loss in totals]
    columns = (Column("figure"), Column("of"), *LEVEL, EPSILON, DELTA)
    note = (
        "'could be' is the bound, over all that these users may fetch. 'released' covers only what"
        " they did fetch. 'independent' is what the same releases would have cost if each had"
        " been drawn independently. 'reach' is the budget of the highest tier that any of them ever"
        " held, 'registrars' that of those who chose these queries."
    )
    return Document(answer.answer, columns, rows, (", ".join(answer.users),), note)


def checkpoint(signed: Checkpoint) -> Document:
    """Return a checkpoint, as one row."""
    columns = (Column("size", right=True), Column("root"), Column("note", None))
    answer = {"size": signed.size, "root_hash": signed.root.hex(), "note": signed.note}
    row = (signed.size, signed.root.hex(), signed.note)
    return Document(
        answer, columns, [row], note="The log continues the checkpoint that was seen before."
    )


def budget(answer: Budget) -> Document:
    """Return a dataset's budget, with one row for each tier."""
    rows = [
        (
            item.tier,
            item.granted.epsilon,
            item.spent.epsilon,
            item.remaining.epsilon,
            item.granted.delta,
            ", ".join(
                query.query if query.share is None else f"{query.query} {query.share:.1%}"
                for query in item.queries
            ),
        )
        for item in answer.tiers
    ]
    columns = (
        Column("tier"),
        *(
            Column(f"{name}_epsilon", number, right=True)
            for name in ("granted", "spent", "remaining")
        ),
        DELTA,
        Column("spent_by"),
    )
    return Document(answer.answer, columns, rows)


def _unit(unit: object) -> str | None:
    """Return a privacy unit in words: a column, rows, or an event."""
    if isinstance(unit, dict):
        return ", ".join(f"{kind} {value}" for kind, value in unit.items())
    return None if unit is None else str(unit)


def _budgets(dataset: Dataset) -> list[Row]:
    """Return tier, epsilon and delta of each budget; one empty row if there is none."""
    rows: list[Row] = [
        (tier, budget.epsilon, budget.delta) for tier, budget in dataset.budgets.items()
    ]
    return rows or [(None,) * 3]


def _tiers(query: Query) -> list[Row]:
    """Return the cells of each tier; one empty row if there is none."""
    return [tier_cells(item) for item in query.tiers] or [(None,) * 8]


def _levels(level: Level) -> tuple[str, float]:
    return level.parameter, level.value


def _error(error: ErrorBars | None) -> tuple[float | None, float | None, float | None]:
    if error is None:
        return None, None, None
    return error.standard_deviation, error.half_width, error.confidence


def _parts(key: object, parts: int) -> Row:
    """Return a key as ``parts`` cells."""
    cells = key if isinstance(key, tuple) else (key,)
    return (*cells, *(None,) * (parts - len(cells)))
