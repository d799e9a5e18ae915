"""Let auditors choose a dataset and a period, and download the report."""

from typing import Any

from flask import Response, request

from penstock.errors import InvalidInput, NotFound
from penstock.http.reports import report_answers
from penstock.http.reports.pdf_report import installed
from penstock.services.datasets import datasets
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.reports import signed_reports
from penstock.web.forms import log_filters
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, Pages

pages = Pages()

DOCUMENTS = ("html", "pdf")


@pages.get("/report", AUDITOR, menu="Report")
def audit_report(visit: Visit) -> Response:
    """Show the form of a report, or send the report that it describes."""
    typed = {name: request.args.get(name, "").strip() for name in ("dataset", "from", "to")}
    shown: dict[str, Any] = {
        "given": typed,
        "datasets": datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items,
        "pdf": installed(),
    }
    form = request.args.get("format", "")
    if not form:
        return visit.page("audit/report.html", **shown)
    try:
        if form not in DOCUMENTS:
            raise InvalidInput("The format must be html or pdf.", pointer="/format")
        report = signed_reports.make(
            visit.server,
            visit.principal,
            _dataset(typed),
            log_filters.moment_in(typed, "from"),
            log_filters.moment_in(typed, "to"),
        )
    except (InvalidInput, NotFound) as problem:
        status = 404 if isinstance(problem, NotFound) else 422
        return visit.page("audit/report.html", status, refusal=problem.detail, **shown)
    return report_answers.report_answer(visit.server, report, form)


def _dataset(typed: dict[str, str]) -> str:
    name = log_filters.name_in(typed, "dataset")
    if name is None:
        raise InvalidInput("Choose the dataset that the report is about.", pointer="/dataset")
    return name
