"""Test the page of reports: what it downloads, and what it says of a period that cannot be."""

import pytest
from tests.api.world import World
from tests.web.world import Browser, Open, text_of

from penstock.web.views.audit import reports
from penstock_client._log.reports import verify


@pytest.fixture
def olga(browse: Open) -> Browser:
    """Return the auditor."""
    return browse("olga")


@pytest.mark.parametrize(("form", "media"), [("html", "text/html"), ("pdf", "application/pdf")])
def test_a_report_is_downloaded_and_verified(
    world: World, olga: Browser, form: str, media: str
) -> None:
    key = world.answer("GET", "/api/v1/audit/checkpoint", by="olga")["key"]
    answer = olga.get(f"/report?dataset=sites&from=2020-01-01&to=&format={form}")
    assert (answer.status_code, answer.mimetype) == (200, media)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    facts = verify(answer.data, bytes.fromhex(key)).facts
    assert (facts["dataset"], facts["start"]) == ("sites", "2020-01-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    ("typed", "status", "words"),
    [
        ("dataset=&format=html", 422, "Choose the dataset"),
        ("dataset=absent&format=html", 404, "There is no dataset"),
        ("dataset=sites&from=soon&format=html", 422, "From must be a date"),
        ("dataset=sites&to=2126-01-01&format=html", 422, "has happened"),
        ("dataset=sites&from=2026-01-02&to=2026-01-01&format=pdf", 422, "after its end"),
        ("dataset=sites&format=docx", 422, "html or pdf"),
        ("dataset=a%00b&format=html", 422, "null character"),
    ],
)
def test_a_refusal_is_in_place_and_loses_nothing(
    olga: Browser, typed: str, status: int, words: str
) -> None:
    answer = olga.get(f"/report?{typed}")
    assert answer.status_code == status
    assert words in text_of(answer)
    if "from=soon" in typed:
        assert 'value="soon"' in answer.text
        assert '<option value="sites" selected>' in answer.text


def test_without_the_library_the_page_offers_html_alone(
    olga: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Download as PDF" in text_of(olga.get("/report"))
    monkeypatch.setattr(reports, "installed", lambda: False)
    page = text_of(olga.get("/report"))
    assert "Download as PDF" not in page
    assert "penstock[report]" in page


def test_the_timeline_is_downloaded_by_the_filters_of_the_page(olga: Browser) -> None:
    answer = olga.get("/timeline?kind=release&order=oldest&format=csv")
    assert (answer.status_code, answer.mimetype) == (200, "text/csv")
    lines = answer.text.splitlines()
    assert len(lines) > 1
    assert all(",release," in line for line in lines[1:])
    assert olga.get("/timeline?kind=made-up&format=csv").status_code == 422
