"""Turn what the commands on streams print into columns and rows."""

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
from penstock_client._show.rounding import short
from penstock_client.figures import decimals, fixed
from penstock_client.stream_preview import StreamPreview, Structure
from penstock_client.streams import Pushed, RunningTotals, Stream


def streams(answers: Sequence[Stream]) -> Document:
    """Return streams, with one row for each tier of each."""
    columns = (
        *(Column("stream"), Column("dataset"), Column("mechanism")),
        *(Column("length", right=True), Column("next", right=True), Column("status")),
        *(Column("tier"), *LEVEL, EPSILON, DELTA, *ERROR, Column("from", right=True)),
    )
    rows = [
        (
            *(
                stream.name,
                stream.dataset,
                stream.mechanism,
                stream.length,
                stream.next,
                stream.status,
            ),
            *(*tier_cells(tier), tier.first),
        )
        for stream in answers
        for tier in stream.tiers
    ]
    note = "" if answers else "No stream is visible to you."
    return Document([stream.answer for stream in answers], columns, rows, note=note)


def totals(running_totals: RunningTotals) -> Document:
    """Return totals, with one row for each step; tables round to the error's digits."""
    digits = decimals(min(total.error.standard_deviation for total in running_totals))

    def rounded(cell: object) -> str:
        return fixed(cast("float", cell), digits)

    columns = (
        Column("t", right=True),
        *(
            Column(name, rounded, right=True)
            for name in total_names(len(running_totals.items[0].values))
        ),
        Column("standard_deviation", None),
        Column("half_width", rounded, right=True, heading="margin of error"),
    )
    rows = list(zip(*columns_of_totals(running_totals).values(), strict=True))
    loss, level = running_totals.guarantee, running_totals.level
    facts = (
        f"{running_totals.stream}",
        f"  dataset {running_totals.dataset}, tier {running_totals.tier}",
        f"  {running_totals.mechanism} noise, {level.parameter} {short(level.value, 6)}",
        f"  epsilon {number(loss.epsilon)}, delta {loss.delta:g}, for the whole stream",
    )
    return Document(running_totals.answer, columns, rows, facts)


def pushed(accepted: Pushed) -> Document:
    """Return the numbers of the elements that were pushed, and the next one."""
    names = ("from", "to", "skipped", "next")
    columns = (Column("stream"), *(Column(name, right=True) for name in names))
    cells = (accepted.stream, accepted.first, accepted.last, accepted.skipped, accepted.next)
    answer = dict(zip(("stream", *names), cells, strict=True))
    return Document(answer, columns, [cells])


def preview(stream_preview: StreamPreview) -> Document:
    """Return what a stream would cost: one row for each tier, and one for each structure."""
    end = f"{stream_preview.length:,} elements" if stream_preview.length is not None else "no end"
    numbers = "" if stream_preview.dimension == 1 else f" of {stream_preview.dimension:,} numbers"
    settings = ", ".join(f"{name} {value}" for name, value in stream_preview.structure.items())
    facts = (
        stream_preview.stream,
        f"  {end}{numbers}; {settings}",
        f"  {norms(stream_preview.sensitivity)} of all nodes to one unit",
        f"  margins of error are those of element {stream_preview.noisiest_step:,}, the noisiest",
    )
    columns = (
        *(Column("tier"), *LEVEL, EPSILON, DELTA, *ERROR),
        *(Column("root_mean_square", number, right=True), *charge_columns(with_room=True)),
    )
    rows = [
        (*tier_cells(tier), tier.root_mean_square, *charge_cells(tier))
        for tier in stream_preview.tiers
    ]
    below = _structures(stream_preview) if stream_preview.tiers else None
    return Document(
        stream_preview.answer, columns, rows, facts, note=stream_preview.refusal or "", below=below
    )


def _structures(stream_preview: StreamPreview) -> Document:
    """Return the structures and their errors at the most trusted tier shown.

    At other tiers all errors are larger by one factor, so the order of structures is the same.
    """
    tier = stream_preview.tiers[-1].tier
    columns = (
        *(Column("structure"), Column("settings")),
        *(Column(name, number, right=True) for name in ("root_mean_square", "largest")),
        Column("charged_share", share, right=True),
        *(Column(name, number, right=True) for name in ("kept", "drawn", "added")),
        *(Column("lossless", yes_or_no), Column("")),
    )
    rows = [
        (
            structure.name,
            ", ".join(f"{name} {value}" for name, value in structure.settings.items()),
            *(error.root_mean_square, error.largest, error.charged_share),
            *(structure.kept, structure.drawn, structure.added, structure.lossless),
            ", ".join(_marks(structure)),
        )
        for structure in stream_preview.structures
        for error in structure.errors
        if error.tier == tier
    ]
    facts = (
        f"Structures at the guarantee of {tier}, over {stream_preview.judged_steps:,} elements:",
        "  standard deviations of a total; numbers that a tier keeps, and draws and adds per step",
    )
    return Document(None, columns, rows, facts)


def _marks(structure: Structure) -> Iterator[str]:
    if structure.chosen:
        yield "chosen"
    if structure.least_mean:
        yield "least mean"
    if structure.least_largest:
        yield "least largest"
    if structure.request is None:
        yield "not opened here"
