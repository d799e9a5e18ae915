"""Represent what analysts may register by themselves, and what a question would take of it."""

from dataclasses import dataclass, field
from html import escape
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client._show.rounding import short
from penstock_client.figures import printable
from penstock_client.models import Answer, whole

HEADS = ("query", "registered by", "share of the allowance")


@dataclass(frozen=True)
class AllowanceSpending:
    """Hold the share that a query takes; ``by`` is shown to admins, auditors and its analyst."""

    query: str
    by: str | None
    share: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(fields.text("query"), fields.text_or_none("by"), fields.number("share"))


@dataclass(frozen=True)
class Allowance:
    """Represent an allowance of a tier in a dataset's newest version.

    ``users`` may use it, all analysts of the tier if it is None; an analyst is shown nobody else.
    Shares add up; after an allowance was made smaller, more than all of it may be spent.
    ``notes`` say, to admins and auditors, what of it cannot be used as things are now.
    """

    dataset: str
    tier: str
    epsilon: float
    delta: float
    users: tuple[str, ...] | None
    spent_share: float
    remaining_share: float
    queries: tuple[AllowanceSpending, ...]
    answer: Answer = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the allowance of a server's answer.  Raises ``ProtocolError``."""
        return cls(
            fields.text("dataset"),
            fields.text("tier"),
            fields.number("epsilon"),
            fields.number("delta"),
            None if fields.whole.get("users") is None else fields.texts("users"),
            fields.number("spent_share"),
            fields.number("remaining_share"),
            tuple(map(AllowanceSpending.read, fields.children("queries"))),
            whole(fields),
            fields.texts("notes") if "notes" in fields.whole else (),
        )

    def headline(self) -> str:
        """Return in a sentence what it is, and what is left of it."""
        who = "all its analysts" if self.users is None else ", ".join(self.users)
        return (
            f"Allowance of {self.tier} in {self.dataset}, for {who}: epsilon"
            f" {short(self.epsilon)}, {percentage(self.remaining_share)} left."
        )

    def __repr__(self) -> str:
        return f"<{printable(self.headline())}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_cell(each.query)}</td><td>{_cell(each.by or '')}</td>"
            f"<td>{percentage(each.share)}</td></tr>"
            for each in self.queries
        )
        head = "".join(f"<th>{name}</th>" for name in HEADS)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        # The less is spent the better: without these bounds a full meter would be green.
        bounds = 'min="0" max="1" low="0.5" high="0.9" optimum="0"'
        meter = f'<meter {bounds} value="{min(self.spent_share, 1.0)}"></meter>'
        spent = f"{percentage(self.spent_share)} spent"
        notes = "".join(f"<p>{_cell(note)}</p>" for note in self.notes)
        return (
            f"<div><p><strong>{_cell(self.headline())}</strong><br>{meter} {spent}</p>"
            f"{table if rows else ''}{notes}</div>"
        )


@dataclass(frozen=True)
class AllowanceRoom:
    """Hold what is left of the caller's allowance, and what a question would take of it.

    ``fits`` and ``needed_share`` are None for one that could not be registered under it, such as
    one with levels at other tiers.
    """

    tier: str
    epsilon: float
    fits: bool | None
    needed_share: float | None
    remaining_share: float

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the room of a preview.  Raises ``ProtocolError``."""
        fits = fields.whole.get("fits")
        return cls(
            fields.text("tier"),
            fields.number("epsilon"),
            None if fits is None else fits is True,
            fields.number_or_none("needed_share"),
            fields.number("remaining_share"),
        )

    def sentence(self) -> str:
        """Return what is left, what the question takes, and whether that fits."""
        left = (
            f"Of your allowance, epsilon {short(self.epsilon)} for {self.tier},"
            f" {percentage(self.remaining_share)} is left"
        )
        if self.needed_share is None:
            return f"{left}; the question could not be registered under it."
        fits = "" if self.fits else ", which does not fit"
        return f"{left}; the question takes {percentage(self.needed_share)}{fits}."


def percentage(share: float) -> str:
    """Return a share as a percentage."""
    return f"{short(100 * share)}%"


def _cell(text: str) -> str:
    return escape(printable(text))
