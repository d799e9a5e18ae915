"""Test that a report in PDF is one page with its fonts, whatever names it holds."""

import importlib.util
import re
import sys
from collections.abc import Callable

import pytest
from tests.api.http.reports.sample import filled

from penstock.errors import Unavailable
from penstock.http.reports import pdf_report
from penstock.http.reports.report_sheet import sheet
from penstock.services.reports.signed_reports import AuditReportView

PAGE = re.compile(rb"/Type\s*/Page\b")
NAMES = {
    "an ordinary one": lambda report: report,
    "one with hostile names": filled,
    "one with the widest names": lambda report: filled(report, ("W" * 300,)),
    "one in letters that the font lacks": lambda report: filled(report, ("\u0416" * 300,)),
    "one in letters beyond 16 bits": lambda report: filled(report, ("\U0001f600" * 300,)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_one_page(report: AuditReportView, name: str) -> None:
    changed: Callable[[AuditReportView], AuditReportView] = NAMES[name]
    content = pdf_report.pdf(sheet(changed(report)))
    assert content.startswith(b"%PDF-1.")
    assert content.rstrip().endswith(b"%%EOF")
    assert len(PAGE.findall(content)) == 1
    assert b"/FontFile2" in content
    assert b"595.2756 841.8898" in content  # A4, in points


def test_letters_that_the_font_lacks_are_written_as_code_points(report: AuditReportView) -> None:
    content = pdf_report.pdf(sheet(filled(report, ("\u0416\u00e9",))))
    title = re.search(rb"/Title \((.*?)\)\s", content)
    assert title is not None
    assert rb"\\u0416" in title.group(1)


def test_without_the_library_the_answer_names_the_extra(
    report: AuditReportView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "reportlab", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Unavailable, match=r"pip install 'penstock\[report\]'"):
        pdf_report.pdf(sheet(report))
