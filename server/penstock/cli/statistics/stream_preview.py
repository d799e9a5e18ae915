"""Print what a stream would cost, and how structures and noises compare, as three tables."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from penstock.cli.output import Column, Document, plainly
from penstock.cli.statistics.queries import CHARGE, ERROR, LEVEL, charge_cells, tier_cells
from penstock.cli.statistics.queries import sensitivity as sensitivity_line
from penstock.figures import percent, short

if TYPE_CHECKING:
    from penstock.services.schemas.stream_previews import StreamPreviewView, StructureView


def previewed(preview: "StreamPreviewView") -> Document:
    """Return a preview: one row for each tier, and below one for each structure."""
    end = f"{preview.length:,} elements" if preview.length is not None else "elements without end"
    settings = ", ".join(f"{name} {plainly(value)}" for name, value in preview.structure.items())
    numbers = "" if preview.dimension == 1 else f" of {preview.dimension:,} numbers"
    facts = [
        f"{preview.stream} over {preview.dataset}, version {preview.dataset_version}, not opened",
        f"  {end}{numbers}, at most {preview.max_steps_per_unit:,} of them of one unit; {settings}",
        f"  {preview.mechanism} noise in steps of {preview.granularity:g}",
        sensitivity_line(preview.sensitivity) + " of all nodes to one unit",
        f"  margins of error are those of element {preview.noisiest_step:,}, the noisiest",
    ]
    columns = (
        *(Column("tier"), *LEVEL, *ERROR),
        *(Column("root_mean_square", right=True), *CHARGE),
    )
    rows = [
        (
            *tier_cells(tier),
            tier.root_mean_square,
            *charge_cells(tier.charge, tier.room),
        )
        for tier in preview.tiers
    ]
    note = preview.refusal or ""
    return Document(preview, columns, rows, facts, note=note, below=_compared(preview))


def _compared(preview: "StreamPreviewView") -> Document:
    """Return the structures and their errors at the most trusted tier shown.

    At other tiers all errors are larger by one factor, so the order of structures is the same.
    """
    tier = preview.tiers[-1].tier
    chosen = next(structure for structure in preview.structures if structure.chosen)
    facts = [
        f"Structures at the guarantee of {tier}, over {preview.judged_steps:,} elements:",
        "  standard deviations of a total; numbers that a tier keeps, and draws and adds per step",
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
            structure.structure,
            ", ".join(f"{name} {value}" for name, value in structure.settings.items()),
            structure.errors[-1].root_mean_square,
            structure.errors[-1].largest,
            structure.errors[-1].root_mean_square / chosen.errors[-1].root_mean_square,
            structure.errors[-1].charged_share,
            *(structure.kept, structure.drawn, structure.added, structure.lossless),
            ", ".join(_marks(structure)),
        )
        for structure in preview.structures
    ]
    return Document(None, columns, rows, facts, below=_noises(preview))


def _noises(preview: "StreamPreviewView") -> Document:
    """Return Laplace and Gaussian noise side by side, at the same targets and every tier."""
    facts = ["Noise at the same targets, each in the structure of auto:"]
    columns = (
        *(Column("noise"), Column("structure"), Column("tier")),
        *(Column("root_mean_square", right=True), Column("largest", right=True)),
        Column("charged_share", percent, right=True),
    )
    rows = [
        (
            *(noise.mechanism, _named(noise.structure), error.tier),
            *(error.root_mean_square, error.largest, error.charged_share),
        )
        for noise in preview.noises
        for error in noise.errors
    ]
    if len(preview.noises) > len({noise.mechanism for noise in preview.noises}):
        facts = ["Noise at the same targets, each in the structure of auto, and the other tree:"]
    refused = [f"  no {each.mechanism}: {each.refusal}" for each in preview.noises if each.refusal]
    return Document(None, columns, rows, [*facts, *refused])


def _named(structure: Mapping[str, Any]) -> str:
    return f"{structure['kind']}{', subtracting' if structure.get('subtracting') else ''}"


def _marks(structure: "StructureView") -> Iterator[str]:
    if structure.chosen:
        yield "chosen"
    if structure.least_mean:
        yield "least mean"
    if structure.least_largest:
        yield "least largest"
    if structure.request is None:
        yield "not opened here"
