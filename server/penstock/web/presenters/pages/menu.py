"""Arrange the pages of a caller's menu in sections, each page with an icon and with its help."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "": {
        "home": "home",
        "catalogue": "catalogue",
        "ask_sql": "question",
        "query_requests": "inbox",
        "history": "clock",
        "budgets": "balance",
        "schedule_list": "calendar",
    },
    "Access": {
        "ladder": "ladder",
        "people": "people",
        "groups": "group",
        "proposals": "decide",
        "keys": "key",
    },
    "Audit": {
        "timeline": "audit_log",
        "coalition": "overlap",
        "proofs": "shield",
        "audit_report": "report",
    },
}
"""By the title of a section, its pages by name, each with the name of its icon."""

HELP: Final[Mapping[str, str]] = {
    "home": "tutorial/",
    "catalogue": "guides/analyst/#in-the-browser",
    "ask_sql": "guides/admin/#preview-before-you-register",
    "query_requests": "guides/analyst/",
    "history": "guides/analyst/#read-the-numbers",
    "budgets": "explanation/choosing-epsilon/",
    "schedule_list": "reference/api/schedules/",
    "ladder": "guides/admin/#set-up-tiers-and-people",
    "people": "guides/admin/#set-up-tiers-and-people",
    "groups": "operate/sign-on/",
    "proposals": "reference/api/proposals/",
    "keys": "operate/keys/",
    "timeline": "guides/auditor/#who-was-given-what",
    "coalition": "guides/auditor/#what-could-they-know-together",
    "proofs": "guides/auditor/#was-the-history-altered",
    "audit_report": "guides/auditor/#file-a-report",
    "dataset": "explanation/tiers-and-levels/#the-words",
    "query": "explanation/tiers-and-levels/#the-words",
    "stream": "explanation/tiers-and-levels/#the-words",
    "consequences": "explanation/tiers-and-levels/#what-it-costs",
    "release": "guides/analyst/#read-the-numbers",
    "new_dataset": "tutorial/#3-declare-the-dataset",
    "declaration": "tutorial/#3-declare-the-dataset",
    "new_query": "guides/admin/#preview-before-you-register",
    "new_stream": "guides/admin/#preview-before-you-register",
    "new_schedule": "reference/api/schedules/",
    "dataset_budgets": "explanation/choosing-epsilon/",
    "dataset_allowances": "guides/analyst/#in-the-browser",
    "query_levels": "explanation/tiers-and-levels/#what-it-costs",
    "stream_levels": "explanation/tiers-and-levels/#what-it-costs",
    "query_retirement": "guides/admin/#retire-what-is-no-longer-needed",
    "stream_retirement": "guides/admin/#retire-what-is-no-longer-needed",
    "shredding": "guides/admin/#retire-what-is-no-longer-needed",
    "dataset_texts": "guides/admin/#give-titles-and-other-texts",
    "query_texts": "guides/admin/#give-titles-and-other-texts",
    "stream_texts": "guides/admin/#give-titles-and-other-texts",
    "tier": "guides/admin/#insert-a-tier-later",
    "preview_clearance": "guides/admin/#promote-and-demote",
    "user": "guides/admin/#set-up-tiers-and-people",
    "new_users": "guides/admin/#add-many-people-at-once",
    "all_invitations": "guides/admin/#invite-a-person-by-a-link",
    "proposal": "reference/api/proposals/",
    "restore": "operate/backups/",
    "inclusion_proof": "guides/auditor/#was-the-history-altered",
    "consistency_proof": "guides/auditor/#was-the-history-altered",
    "verification": "guides/auditor/#was-the-history-altered",
}
"""By the name of a page, what the documentation says about it, as an address within its site."""

OTHER: Final = "dot"
"""The icon of a page that no section names; such pages are the last of the first section."""


@dataclass(frozen=True)
class Entry:
    """Represent a link to a page in the menu."""

    page: str
    title: str
    icon: str


@dataclass(frozen=True)
class Section:
    """Represent links under one title; the first section has none."""

    title: str
    entries: tuple[Entry, ...]


def help_of(endpoint: str | None) -> str | None:
    """Return where the documentation's site explains the page of an endpoint; None if nowhere."""
    return HELP.get((endpoint or "").rpartition(".")[2])


def sections(pages: Iterable[tuple[str, str]]) -> list[Section]:
    """Return the sections that have any of ``pages``, which are names with titles."""
    titles = dict(pages)
    named = {page for icons in SECTIONS.values() for page in icons}
    others = {page: OTHER for page in titles if page not in named}
    made = []
    for title, icons in SECTIONS.items():
        listed = icons if title else {**icons, **others}
        entries = tuple(
            Entry(page, titles[page], icon) for page, icon in listed.items() if page in titles
        )
        if entries:
            made.append(Section(title, entries))
    return made
