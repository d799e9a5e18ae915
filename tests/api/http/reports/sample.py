"""Provide reports: one of a real server, and one with as much in it as a page shows."""

from dataclasses import replace

from penstock.services.reports.report_facts import (
    CoalitionView,
    GivenView,
    TierGivenView,
    TierSpentView,
)
from penstock.services.reports.signed_reports import AuditReportView
from penstock.services.schemas.exposure import ReachView
from penstock.services.schemas.views import ErrorView, PrivacyBudget

LOSS = PrivacyBudget(0.123456, 1e-6)
HOSTILE = (
    "<script>alert(1)</script>",
    "&amp;</bdi><b>",
    "<para><font size=90>",
    "\u0416\u0430\u043d\u043d\u0430 \u5c71\u7530 \U0001f600",
    "\u202egnp.exe",
    "\u05d0\u05d1\u05d2",
    "W" * 300,
    "--><!--penstock-report:QUJD-->",
    "%penstock-report:QUJD",
    "{0} %s {{x}}",
)
"""Names that are markup, formats, long, or in letters that fonts lack."""


def filled(report: AuditReportView, names: tuple[str, ...] = HOSTILE) -> AuditReportView:
    """Return a report with many people, tiers and coalitions of these names."""
    many = [names[place % len(names)] for place in range(60)]
    error = ErrorView(1.5, 0.95, 2.94)
    facts = replace(
        report.facts,
        dataset=many[0],
        dataset_title=many[0],
        made_by=many[1],
        versions=2,
        releases=600,
        people=60,
        tiers=[TierGivenView(name, 3, 12, 2) for name in many],
        given=[GivenView(name, name, 10, 3, name, name, error) for name in many],
        budgets=[TierSpentView(2, name, LOSS, LOSS, 0.25) for name in many],
        coalitions=[
            CoalitionView(name, many, LOSS, LOSS, ReachView(name, 1.0, 1e-6)) for name in many
        ],
        log=replace(report.facts.log, cosigned_by=many),
    )
    return replace(report, facts=facts)
