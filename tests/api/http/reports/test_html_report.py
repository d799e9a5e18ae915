"""Test that a report in HTML is whole, needs nothing else, and shows names as text."""

import base64
import hashlib
import re

from tests.api.http.reports.sample import filled
from tests.api.outline import Outline

from penstock.http.reports.html_report import STYLE_HASH, html
from penstock.http.reports.report_sheet import sheet
from penstock.services.reports.signed_reports import AuditReportView


def test_the_page_is_whole_and_loads_nothing(report: AuditReportView) -> None:
    text = html(sheet(report)).decode()
    outline = Outline(text)
    for needed in ("h1", "main", "table"):
        assert needed in outline.elements
    assert not re.search(r"<(script|link|img|iframe)|src=|href=|url\(|@import", text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = hashlib.sha256(style.group(1).encode()).digest()
    assert base64.b64encode(digest).decode() == STYLE_HASH


def test_names_are_text_and_no_markup(report: AuditReportView) -> None:
    text = html(sheet(filled(report))).decode()
    for markup in ("<script", "<para>", "<font", "</bdi><b>", "<!--"):
        assert markup not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\u0416\u0430\u043d\u043d\u0430 \u5c71\u7530 \U0001f600" in text
    assert "<bdi>\u05d0\u05d1\u05d2</bdi>" in text
