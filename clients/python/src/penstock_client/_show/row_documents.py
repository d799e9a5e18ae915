"""Turn made-up rows, and marginals in reported forms, into columns and rows."""

from collections.abc import Mapping
from dataclasses import asdict

from penstock_client._show.output import Column, Document
from penstock_client._show.rounding import short
from penstock_client.dummy import Dummy, SyntheticRows
from penstock_client.release import Release


def dummy(rows_of_dummy: Dummy) -> Document:
    """Return made-up rows, under the columns of their dataset."""
    columns = [Column(name) for name in (rows_of_dummy.rows[0] if rows_of_dummy.rows else {})]
    rows = [tuple(row.values()) for row in rows_of_dummy.rows]
    return Document({"items": [dict(row) for row in rows_of_dummy.rows]}, columns, rows)


def synthetic(made: SyntheticRows) -> Document:
    """Return made-up rows, under the columns of their release, and how well they fit."""
    columns = [Column(name) for name in made.columns]
    rows = list(zip(*made.columns.values(), strict=True))
    worst = max((fit.distance for fit in made.fits), default=0.0)
    left_out = sum(not fit.fitted for fit in made.fits)
    note = (
        f"Made up from release {made.release} of {made.query}: no row is anybody's. The shares of"
        f" its tables are at most {short(100 * worst)}% from those of the rows."
    )
    if left_out:
        note += f" {left_out} of {len(made.fits)} tables were left out of the model."
    answer = {
        "release": made.release,
        "query": made.query,
        "tier": made.tier,
        "columns": {name: list(labels) for name, labels in made.columns.items()},
        "fits": [asdict(fit) for fit in made.fits],
    }
    return Document(answer, columns, rows, note=note)


def reported_values(release: Release) -> list[float] | None:
    """Return the cells of all marginals in the forms that were asked for; None without any."""
    if not any(each.reported for each in release.marginals):
        return None
    cells = [each.reported[key] for each in release.marginals for key in each.values]
    return cells if release.part is None else None


def report_line(release: Release) -> str:
    """Return a line on the forms of a report."""
    report = release.answer.get("report")
    forms = report.get("forms") if isinstance(report, Mapping) else None
    names = ", ".join(map(str, forms)) if isinstance(forms, list) else "in forms"
    return (
        f"reported: {names}; weakly lossless: it reveals nothing beyond the values, from which it"
        " was computed, and they cannot be computed from it"
    )
