"""What the commands on streams print, as columns and rows."""

from collections.abc import Iterator, Sequence
from typing import cast

from penstock_client._show.documents import (
    DELTA,
    EPSILON,
    ERROR,
    LEVEL,
    charge_cells,
    charge_columns,
    norms,
    number,
    share,
    tier_cells,
    yes_or_no,
)
from penstock_client._show.frames import columns_of_totals, total_names
from penstock_client._show.output import Column, Document
from penstock_client._show.rounding import decimals, fixed, short
from penstock_client.stream_preview import StreamPreview, Structure
from penstock_client.streams import Pushed, RunningTotals, Stream


def streams(found: Sequence[Stream]) -> Document:
    """One row for each tier of each stream."""
    columns = (
        *(Column("stream"), Column("dataset"), Column("mechanism")),
        *(Column("length", right=True), Column("next", right=True), Column("status")),
        *(Column("tier"), *LEVEL, EPSILON, DELTA, *ERROR, Column("from", right=True)),
    )
    rows = [
        (
            *(one.name, one.dataset, one.mechanism, one.length, one.next, one.status),
            *(*tier_cells(tier), tier.first),
        )
        for one in found
        for tier in one.tiers
    ]
    note = "" if found else "There is no stream that you may see."
    return Document([one.answer for one in found], columns, rows, note=note)


def totals(found: RunningTotals) -> Document:
    """One row for each step, rounded in tables to what the errors leave."""
    digits = decimals(min(one.error.standard_deviation for one in found))

    def rounded(cell: object) -> str:
        return fixed(cast("float", cell), digits)

    columns = (
        Column("t", right=True),
        *(Column(name, rounded, right=True) for name in total_names(len(found.items[0].values))),
        Column("standard_deviation", None),
        Column("half_width", rounded, right=True),
    )
    rows = list(zip(*columns_of_totals(found).values(), strict=True))
    loss, level = found.guarantee, found.level
    facts = (
        f"{found.stream}",
        f"  dataset {found.dataset}, tier {found.tier}",
        f"  {found.mechanism} noise, {level.parameter} {short(level.value, 6)}",
        f"  epsilon {number(loss.epsilon)}, delta {loss.delta:g}, for the whole stream",
    )
    return Document(found.answer, columns, rows, facts)


def pushed(found: Pushed) -> Document:
    """The numbers that were taken in, and the next one."""
    names = ("from", "to", "skipped", "next")
    columns = (Column("stream"), *(Column(name, right=True) for name in names))
    cells = (found.stream, found.first, found.last, found.skipped, found.next)
    answer = dict(zip(("stream", *names), cells, strict=True))
    return Document(answer, columns, [cells])


def preview(found: StreamPreview) -> Document:
    """One row for each tier, and below one for each structure."""
    end = f"{found.length:,} elements" if found.length is not None else "no end"
    numbers = "" if found.dimension == 1 else f" of {found.dimension:,} numbers"
    settings = ", ".join(f"{name} {value}" for name, value in found.structure.items())
    facts = (
        found.stream,
        f"  {end}{numbers}; {settings}",
        f"  {norms(found.sensitivity)} of all nodes to one unit",
        f"  half widths are those of element {found.noisiest_step:,}, the noisiest one",
    )
    columns = (
        *(Column("tier"), *LEVEL, EPSILON, DELTA, *ERROR),
        *(Column("root_mean_square", number, right=True), *charge_columns(asked=True)),
    )
    rows = [(*tier_cells(tier), tier.root_mean_square, *charge_cells(tier)) for tier in found.tiers]
    below = _structures(found) if found.tiers else None
    return Document(found.answer, columns, rows, facts, note=found.refusal or "", below=below)


def _structures(found: StreamPreview) -> Document:
    """Errors at the most trusted tier shown: at the others all are larger by one factor."""
    tier = found.tiers[-1].tier
    columns = (
        *(Column("structure"), Column("settings")),
        *(Column(name, number, right=True) for name in ("root_mean_square", "largest")),
        Column("charged_share", share, right=True),
        *(Column(name, number, right=True) for name in ("kept", "drawn", "added")),
        *(Column("lossless", yes_or_no), Column("")),
    )
    rows = [
        (
            one.name,
            ", ".join(f"{name} {value}" for name, value in one.settings.items()),
            *(error.root_mean_square, error.largest, error.charged_share),
            *(one.kept, one.drawn, one.added, one.lossless),
            ", ".join(_marks(one)),
        )
        for one in found.structures
        for error in one.errors
        if error.tier == tier
    ]
    facts = (
        f"Structures at the guarantee of {tier}, over {found.judged_steps:,} elements:",
        "  standard deviations of a total, and numbers that a tier keeps, draws and adds a step",
    )
    return Document(None, columns, rows, facts)


def _marks(one: Structure) -> Iterator[str]:
    if one.chosen:
        yield "chosen"
    if one.least_mean:
        yield "least mean"
    if one.least_largest:
        yield "least largest"
    if one.request is None:
        yield "not opened here"
