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
