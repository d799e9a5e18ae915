"""Describe the marginals of a release as they are answered."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MarginalCellView:
    """Hold one cell of a marginal: its raw value, and that in the form which was asked for."""

    key: list[str]
    value: float
    standard_deviation: float
    reported: float | None


@dataclass(frozen=True)
class MarginalView:
    """Hold the marginal of ``columns``; a cell's key has a part for each of them."""

    columns: list[str]
    cells: list[MarginalCellView]


@dataclass(frozen=True)
class ReportView:
    """Hold the forms of reported cells.

    ``lossless`` is ``weakly``: several forms and levels reveal no more than the most accurate
    level, but one form is not computed from another.
    """

    forms: list[str]
    lossless: str
