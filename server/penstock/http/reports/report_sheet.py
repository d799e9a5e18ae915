"""Say what an auditor's report says on its page, in words and tables, for every form.

Lists are cut so that the page stays one; the signed facts have all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from penstock.figures import moment, percent, printable, short
from penstock.services.reports.log_checks import LogCheckView
from penstock.services.reports.report_facts import CoalitionView, ReportFactsView
from penstock.services.reports.signed_reports import AuditReportView
from penstock.services.schemas.views import PrivacyBudget

MOST_PEOPLE: Final = 10
MOST_ACCOUNTS: Final = 6
MOST_COALITIONS: Final = 5
LONGEST_NAME: Final = 32
"""The characters of a name that are shown; the signed facts have the whole name."""

LONGEST_TITLE: Final = 24
LONGEST_BESIDE: Final = 20
"""The characters that are shown of a title, and of the name that stands behind it."""


@dataclass(frozen=True)
class Table:
    """Hold a table, the places of its columns of figures, and how wide its columns are."""

    title: str
    text: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    figures: tuple[int, ...]
    widths: tuple[int, ...]
    empty: str = ""


@dataclass(frozen=True)
class Sheet:
    """Hold what the page says; ``sound`` is False if a check failed."""

    title: str
    subtitle: str
    verdict: str
    sound: bool
    tables: list[Table]
    signature: list[tuple[str, str]]
    foot: str


def sheet(report: AuditReportView) -> Sheet:
    """Return what the page of a report says."""
    facts = report.facts
    failures = failed(facts.log)
    given = (
        f"{_count(facts.releases, 'release')} to {_count(facts.people, 'person', 'people')}"
        f" in this period."
    )
    return Sheet(
        title=f"Audit report: {_titled(facts.dataset_title, facts.dataset)}",
        subtitle=f"{_period(facts)} Made at {_time(facts.made_at)} by {_name(facts.made_by)}.",
        verdict=f"{given} {_verdict(failures)}",
        sound=not failures,
        tables=[_given(facts), _budgets(facts), _coalitions(facts), _checks(facts.log)],
        signature=[
            ("Checkpoint", f"{facts.log.size:,} leaves, signed at {_time(facts.log.signed_at)}"),
            ("Root", facts.log.root_hash),
            ("Facts, SHA-256", report.facts_sha256),
            ("Log's key", report.key),
            ("Signature", report.note.rstrip("\n").rpartition(" ")[2]),
        ],
        foot=(
            "Signed are the facts, as canonical JSON inside this file, and the bytes of the file"
            " around them. To check both without the server: penstock-client audit verify-report"
            " FILE --key KEY, with the log's key from a source that you trust, and not from here."
        ),
    )


def failed(log: LogCheckView) -> list[str]:
    """Return in words which checks of the log failed."""
    checks = {
        "the checkpoint's signature": log.signature,
        "the root of the stored log": log.root,
        "the growth of the log": log.consistent,
        "the witness": log.witness,
    }
    return [name for name, passed in checks.items() if not passed]


def _verdict(failures: Sequence[str]) -> str:
    if failures:
        return f"NOT in order: {', '.join(failures)}."
    return "All checks of the log passed."


def _period(facts: ReportFactsView) -> str:
    start = "From the beginning of the log" if facts.start is None else f"From {_time(facts.start)}"
    return f"{start} until before {_time(facts.end)}."


def _given(facts: ReportFactsView) -> Table:
    rows = [
        (
            _name(row.tier),
            _name(row.user),
            f"{row.releases:,}",
            f"{row.queries:,}",
            _titled(row.best_title, row.best_query),
            f"± {short(row.best_error.half_width)}",
        )
        for row in facts.given[:MOST_PEOPLE]
    ]
    rest = facts.given[MOST_PEOPLE:]
    if rest:
        others = f"and {_count(len(rest), 'more line')}"
        rows.append((others, "", f"{sum(row.releases for row in rest):,}", "", "", ""))
    tiers = "; ".join(
        f"{_name(tier.tier)}: {_count(tier.releases, 'release')} of"
        f" {_count(tier.queries, 'query', 'queries')} to {_count(tier.users, 'person', 'people')}"
        for tier in facts.tiers[:MOST_ACCOUNTS]
    )
    return Table(
        "Who was given what",
        f"{tiers}. Each release counts once for each person; margins are at 95%." if tiers else "",
        ("Tier", "Person", "Releases", "Queries", "Most accurate", "Margin of error"),
        rows,
        (2, 3, 5),
        (4, 6, 2, 2, 6, 3),
        "Nobody was given anything in this period.",
    )


def _budgets(facts: ReportFactsView) -> Table:
    rows = [
        (
            _name(row.tier) + (f", version {row.version}" if facts.versions > 1 else ""),
            _loss(row.granted),
            _loss(row.spent),
            percent(row.spent_share),
        )
        for row in facts.budgets[-MOST_ACCOUNTS:][::-1]
    ]
    return Table(
        "Spent against budget",
        f"When the report was made; delta {facts.budgets[0].granted.delta:g}."
        if facts.budgets
        else "",
        ("Tier", "Budget, epsilon", "Spent, epsilon", "Share of the account"),
        rows,
        (1, 2, 3),
        (3, 1, 1, 1),
        "No tier has a budget.",
    )


def _coalitions(facts: ReportFactsView) -> Table:
    return Table(
        "Who could learn most together",
        "Each line is everybody who holds releases and never was above that tier: no other group"
        " up to it knows more. When the report was made.",
        ("Everybody up to", "People", "Epsilon so far", "Epsilon possible", "Budget, epsilon"),
        [_coalition(row) for row in facts.coalitions[:MOST_COALITIONS]],
        (2, 3, 4),
        (3, 7, 3, 3, 3),
        "Nobody holds a release.",
    )


def _coalition(row: CoalitionView) -> tuple[str, ...]:
    shown = ", ".join(_name(user, 16) for user in row.users[:3])
    more = f" and {len(row.users) - 3:,} more" if len(row.users) > 3 else ""
    return (
        _name(row.up_to),
        shown + more,
        _loss(row.released),
        _loss(row.could_be),
        "none" if row.reach is None else short(row.reach.epsilon),
    )


def _checks(log: LogCheckView) -> Table:
    witness = (
        "could not be read, or the server is suspended"
        if log.witness_size is None
        else f"saw {log.witness_size:,} leaves: {'the same' if log.witness else 'NOT THE SAME'}"
    )
    growth = (
        f"{log.size:,} leaves {'begin' if log.consistent else 'DO NOT BEGIN'} with the"
        f" {log.consistent_from:,} of an earlier checkpoint"
    )
    rows = [
        ("Checkpoint", "signed by the log's key" if log.signature else "NOT SIGNED"),
        (
            "Root",
            f"of {log.size:,} leaves, {'as' if log.root else 'NOT AS'} in the stored tree",
        ),
        (
            "Growth",
            growth,
        ),
        ("Witness", witness),
        ("Cosigned by", ", ".join(map(_name, log.cosigned_by[:4])) or "nobody"),
    ]
    return Table(
        "Checked",
        "Leaves and values are not recomputed for a report: penstock audit verify does that.",
        ("Check", "Result"),
        rows,
        (),
        (1, 6),
    )


def _loss(amount: PrivacyBudget) -> str:
    return short(amount.epsilon)


def _count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def _name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a name on one line, shortened with an ellipsis."""
    safe = printable(text)
    return safe if len(safe) <= longest else safe[: longest - 1] + "\u2026"


def _titled(title: str, name: str) -> str:
    """Return a title with the name by which programs know it, or the name if there is no title."""
    if not title:
        return _name(name)
    return f"{_name(title, LONGEST_TITLE)} ({_name(name, LONGEST_BESIDE)})"


def _time(text: str) -> str:
    return moment(datetime.fromisoformat(text)) if text else "an unknown time"
