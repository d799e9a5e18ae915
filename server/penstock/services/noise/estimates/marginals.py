"""Show marginals from their released values alone, raw or in the forms that counts have.

It is post-processing: a release is not needed again, nor are the data.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from penstock.connectors.planning.domain import MarginalKeys
from penstock.errors import InvalidInput
from penstock.services.noise.estimates.products import Numbers
from penstock.services.schemas.estimates.marginals import MarginalCellView, MarginalView, ReportView
from penstock.services.schemas.views import ReleaseView
from penstock.structures.marginals.reports import Form, reported

WEAKLY = "weakly"


def marginals_of(
    keys: MarginalKeys, values: Numbers, deviations: Sequence[float]
) -> list[MarginalView]:
    """Return the marginals of a release, whose ``values`` are in the order of ``keys``.

    ``deviations`` are the standard deviations of the cells of each marginal.
    """
    views, start = [], 0
    for columns, deviation in zip(keys.sets, deviations, strict=True):
        domain = keys.of_set(columns)
        cells = [
            MarginalCellView([key] if isinstance(key, str) else key, value, deviation, None)
            for key, value in zip(domain, values[start : start + len(domain)].tolist(), strict=True)
        ]
        views.append(MarginalView([keys.names[column] for column in columns], cells))
        start += len(domain)
    return views


def forms_of(report: str | None) -> list[Form]:
    """Return the forms that ``?report=`` names, with commas between.  Raises ``InvalidInput``."""
    if report is None:
        return []
    names = [name.strip() for name in report.split(",") if name.strip()]
    unknown = [name for name in names if name not in list(Form)]
    if unknown:
        raise InvalidInput(
            f"The forms of a report are {', '.join(Form)}; name one or several of them.",
            pointer="/report",
        )
    return [form for form in Form if form in names]


def with_report(release: ReleaseView, forms: Sequence[Form]) -> ReleaseView:
    """Return a release whose marginals are reported in these forms, beside their raw values.

    Any other release is returned as it is.
    """
    if not forms or release.marginals is None:
        return release
    return replace(
        release,
        marginals=[_reported(each, forms) for each in release.marginals],
        report=ReportView([form.value for form in forms], WEAKLY),
    )


def _reported(view: MarginalView, forms: Collection[Form]) -> MarginalView:
    numbers: Any = reported(np.array([cell.value for cell in view.cells]), forms)
    cells = [
        replace(cell, reported=number)
        for cell, number in zip(view.cells, numbers.tolist(), strict=True)
    ]
    return replace(view, cells=cells)
