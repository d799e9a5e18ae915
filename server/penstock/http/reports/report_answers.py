"""Answer with an auditor's report in the form that was requested, and sign its documents.

A document holds the facts and their notes in lines of its own, which readers skip as comments:
``<!--penstock-report:...-->`` in HTML, ``%penstock-report:...`` in PDF, there between the trailer
and ``startxref``, so that no offset in the file changes.  They hold the facts, the note over them,
and the note over facts and document, each in base64, with points between them.  The document's
note is over all other lines.
"""

import base64
from collections.abc import Mapping
from typing import Final

from flask import Response

from penstock.http.answers import MEDIA_TYPE, json_answer
from penstock.http.reports import html_report, pdf_report
from penstock.http.reports.report_sheet import sheet
from penstock.services.context import Server
from penstock.services.reports import signed_reports
from penstock.services.reports.signed_reports import AuditReportView

FORMS: Final[Mapping[str, str]] = {
    "json": MEDIA_TYPE,
    "html": "text/html",
    "pdf": "application/pdf",
}
"""The media type of each form of a report, the preferred one first."""

MARK: Final = "penstock-report:"
LINE: Final = 200
"""The characters of a line in PDF, whose lines should be short."""


def report_answer(server: Server, report: AuditReportView, form: str) -> Response:
    """Return the report in one of ``FORMS``; documents are to be saved as files."""
    if form == "json":
        response = json_answer(report, 200)
        response.headers["Vary"] = "Accept"
        return response
    response = Response(document(server, report, form), 200, mimetype=FORMS[form])
    response.headers["Vary"] = "Accept"
    response.headers["Content-Disposition"] = f'attachment; filename="{_file(report, form)}"'
    if form == "html":
        response.headers["Content-Security-Policy"] = (
            f"default-src 'none'; style-src 'sha256-{html_report.STYLE_HASH}'; base-uri 'none';"
            " form-action 'none'; frame-ancestors 'none'"
        )
    return response


def document(server: Server, report: AuditReportView, form: str) -> bytes:
    """Return the signed document.  Raises ``Unavailable`` if it cannot be written."""
    if form == "html":
        unsigned, end = html_report.html(sheet(report)), html_report.END
    else:
        unsigned, end = pdf_report.pdf(sheet(report)), pdf_report.END
    before, _, after = unsigned.rpartition(end)
    parts = (
        signed_reports.content_of(report.facts),
        report.note.encode(),
        signed_reports.document_note(server, report, unsigned).encode(),
    )
    payload = ".".join(base64.b64encode(part).decode() for part in parts)
    if form == "html":
        lines = f"<!--{MARK}{payload}-->\n"
    else:
        cut = [payload[start : start + LINE] for start in range(0, len(payload), LINE)]
        lines = "".join(f"%{MARK}{part}\n" for part in cut)
    return before + lines.encode() + end + after


def _file(report: AuditReportView, form: str) -> str:
    """Return a file's name in plain letters, whatever the dataset is called."""
    facts = report.facts
    plain = "".join(
        letter if letter.isascii() and letter.isalnum() else "-" for letter in facts.dataset
    )
    return f"audit-report-{plain[:40]}-{facts.end[:10]}.{form}"
