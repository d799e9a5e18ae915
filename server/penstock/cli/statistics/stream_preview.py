"""What a stream would cost, and which structure would serve it best, as two tables."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.cli.output import Column, Document, plainly
from penstock.cli.statistics.queries import CHARGE, ERROR, LEVEL, charge_cells, tier_cells
from penstock.cli.statistics.queries import sensitivity as sensitivity_line
from penstock.figures import percent, short

if TYPE_CHECKING:
    from penstock.services.schemas.stream_previews import StreamPreviewView, StructureView


def previewed(found: "StreamPreviewView") -> Document:
    """One row for each tier, and below one for each structure."""
    end = f"{found.length:,} elements" if found.length is not None else "elements without an end"
    settings = ", ".join(f"{name} {plainly(value)}" for name, value in found.structure.items())
    numbers = "" if found.dimension == 1 else f" of {found.dimension:,} numbers"
    facts = [
        f"{found.stream} over {found.dataset}, version {found.dataset_version}, not opened",
        f"  {end}{numbers}, at most {found.max_steps_per_unit:,} of a unit; {settings}",
        f"  {found.mechanism} noise in steps of {found.granularity:g}",
        sensitivity_line(found.sensitivity) + " of all nodes to one unit",
        f"  half widths are those of element {found.noisiest_step:,}, the noisiest one",
    ]
    columns = (
        *(Column("tier"), *LEVEL, *ERROR),
        *(Column("root_mean_square", right=True), *CHARGE),
    )
    rows = [
        (
            *tier_cells(one),
            one.root_mean_square,
            *charge_cells(one.charge, one.room),
        )
        for one in found.tiers
    ]
    note = found.refusal or ""
    return Document(found, columns, rows, facts, note=note, below=_compared(found))


def _compared(found: "StreamPreviewView") -> Document:
    """Errors at the most trusted tier shown: at the others all are larger by one factor."""
    tier = found.tiers[-1].tier
    chosen = next(one for one in found.structures if one.chosen)
    facts = [
        f"Structures at the guarantee of {tier}, over {found.judged_steps:,} elements:",
        "  standard deviations of a total, and numbers that a tier keeps, draws and adds a step",
    ]
    columns = (
        *(Column("structure"), Column("settings")),
        *(Column("root_mean_square", right=True), Column("largest", right=True)),
        *(Column("over_chosen", lambda cell: f"{short(cell)}x", right=True),),
        Column("charged_share", percent, right=True),
        *(Column(name, right=True) for name in ("kept", "drawn", "added")),
        *(Column("lossless"), Column("")),
    )
    rows = [
        (
            one.structure,
            ", ".join(f"{name} {value}" for name, value in one.settings.items()),
            one.errors[-1].root_mean_square,
            one.errors[-1].largest,
            one.errors[-1].root_mean_square / chosen.errors[-1].root_mean_square,
            one.errors[-1].charged_share,
            *(one.kept, one.drawn, one.added, one.lossless),
            ", ".join(_marks(one)),
        )
        for one in found.structures
    ]
    return Document(None, columns, rows, facts)


def _marks(one: "StructureView") -> Iterator[str]:
    if one.chosen:
        yield "chosen"
    if one.least_mean:
        yield "least mean"
    if one.least_largest:
        yield "least largest"
    if one.request is None:
        yield "not opened here"
