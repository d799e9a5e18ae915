"""Test that a file that is no report is refused in words; the server's tests alter real ones."""

import pytest

from penstock_client._log import reports


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no signed facts"),
        (b"<!doctype html>\n<p>A page</p>\n", "no signed facts"),
        (b"%PDF-1.4\n%penstock-report:QUJD\n", "no signed facts"),
        (b"<!--penstock-report:QUJD.QUJD.QUJD-->\n", "not a note of the log"),
        (b"{}", "no note"),
        (b'{"facts": {}, "note": "text"}', "not a note of the log"),
        (b'{"facts": NaN, "note": "text"}', "."),
        (b"{" * 100_000, "."),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        reports.verify(content, bytes(32))


def test_a_huge_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "LARGEST", 10)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        reports.verify(b"x" * 11, bytes(32))
