"""Test that the page of a report says what its facts say, and says what failed."""

from dataclasses import replace

import pytest
from tests.api.http.reports.sample import HOSTILE, filled

from penstock.http.reports.report_sheet import (
    LONGEST_BESIDE,
    LONGEST_NAME,
    LONGEST_TITLE,
    MOST_PEOPLE,
    failed,
    sheet,
)
from penstock.services.reports.signed_reports import AuditReportView


def test_the_page_has_the_figures_of_the_facts(report: AuditReportView) -> None:
    shown = sheet(report)
    assert shown.sound
    assert shown.title == "Audit report: sites"
    assert shown.verdict == "1 release to 1 person in this period. All checks of the log passed."
    given = shown.tables[0]
    (row,) = report.facts.given
    assert given.rows[0][:5] == (row.tier, row.user, "1", "1", row.best_query)
    assert dict(shown.signature)["Root"] == report.facts.log.root_hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"signature": False}, "the checkpoint's signature"),
        ({"root": False}, "the root of the stored log"),
        ({"consistent": False}, "the growth of the log"),
        ({"witness": False}, "the witness"),
        ({"witness": None, "witness_size": None}, "the witness"),
    ],
)
def test_what_failed_is_the_first_thing_that_the_page_says(
    report: AuditReportView, change: dict[str, object], words: str
) -> None:
    log = replace(report.facts.log, **change)  # type: ignore[arg-type]  # fields of the view
    assert failed(log) == [words]
    shown = sheet(replace(report, facts=replace(report.facts, log=log)))
    assert not shown.sound
    assert f"NOT in order: {words}." in shown.verdict


def test_lists_are_cut_and_the_rest_is_added_up(report: AuditReportView) -> None:
    shown = sheet(filled(report))
    given = shown.tables[0]
    assert len(given.rows) == MOST_PEOPLE + 1
    assert given.rows[-1][0] == f"and {60 - MOST_PEOPLE} more lines"
    assert given.rows[-1][2] == f"{10 * (60 - MOST_PEOPLE)}"
    for table in shown.tables:
        assert all(len(row) == len(table.heads) == len(table.widths) for row in table.rows)


def test_names_are_on_one_line_and_short(report: AuditReportView) -> None:
    people = {row[1] for row in sheet(filled(report)).tables[0].rows}
    assert not any("\u202e" in name for name in people)
    assert "W" * (LONGEST_NAME - 1) + "\u2026" in people
    assert any(name.startswith(HOSTILE[0][:20]) for name in people)


def test_titles_stand_before_names_and_both_are_cut(report: AuditReportView) -> None:
    (row, *_) = report.facts.given
    titled = replace(row, best_title="Visits <by> area")
    facts = replace(report.facts, given=[titled], dataset_title="Sites of all towns")
    shown = sheet(replace(report, facts=facts))
    assert shown.title == f"Audit report: Sites of all towns ({facts.dataset})"
    assert shown.tables[0].rows[0][4] == f"Visits <by> area ({row.best_query})"
    long = sheet(filled(report, ("W" * 300,)))
    cut = f"{'W' * (LONGEST_TITLE - 1)}\u2026 ({'W' * (LONGEST_BESIDE - 1)}\u2026)"
    assert long.title == f"Audit report: {cut}"
    assert long.tables[0].rows[0][4] == cut
