"""Show what a question would be charged, tier by tier, and what is left."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from penstock_client._show.rounding import percent, short
from penstock_client.figures import printable
from penstock_client.models import Budget, PrivacyLoss
from penstock_client.preview import Preview, TierPreview
from penstock_client.questions.allowances import AllowanceRoom

HEADS = ("tier", "epsilon", "margin of error", "charge", "left now", "left after", "fits")


@dataclass(frozen=True)
class Cost:
    """Hold the preview of a question, and the dataset's budget.

    ``registered`` names the query that has the same statistic already: then nothing is charged.
    ``question`` is its text.
    """

    preview: Preview
    budget: Budget
    registered: str | None
    question: str

    @property
    def fits(self) -> bool:
        """Return True if the budgets that the caller sees, and their allowance, allow it."""
        room = self.allowance
        allowed = room is None or room.fits is not False
        return self.registered is not None or (self.preview.refusal is None and allowed)

    @property
    def refusal(self) -> str | None:
        """Return why the budgets, or the caller's allowance, do not allow it."""
        if self.fits:
            return None
        room = self.allowance
        return self.preview.refusal or (None if room is None else room.sentence())

    @property
    def tiers(self) -> tuple[TierPreview, ...]:
        """Return what each tier would get, and be charged."""
        return self.preview.tiers

    def remaining(self, tier: str) -> PrivacyLoss | None:
        """Return what a tier has left of the dataset's budget; None if it is not shown."""
        left = (each.remaining for each in self.budget.tiers if each.tier == tier)
        return next(left, None)

    @property
    def allowance(self) -> AllowanceRoom | None:
        """Return what is left of the caller's allowance, and what the question takes of it."""
        return self.preview.allowance

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the cells of each tier, in the order of ``HEADS``."""
        for tier in self.preview.tiers:
            room = tier.room
            now = None if room is None else room.remaining_share
            share = None if self.registered is not None else tier.charge.share
            after = None if now is None or share is None else max(now - share, 0.0)
            yield (
                tier.tier,
                short(tier.guarantee.epsilon),
                f"±{short(tier.error.half_width)} at {percent(tier.error.confidence)}",
                "nothing" if share is None else _percent(share),
                self._left(tier.tier, now),
                _percent(after),
                "yes" if room is None or room.fits else "no",
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """Return which rows count otherwise than the SQL says, word by word."""
        notes = self.preview.answer.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list) else ()

    def headline(self) -> str:
        """Return in a sentence whether the question can be registered, and what it costs."""
        if self.registered is not None:
            return (
                f"This statistic is registered already, as query {self.registered!r}:"
                " its release costs nothing."
            )
        words = self.preview.refusal or (
            "Nothing is charged yet. Registering charges each tier once; releases cost nothing."
        )
        room = self.allowance
        return words if room is None else f"{words} {room.sentence()}"

    def __repr__(self) -> str:
        tiers = "; ".join(
            f"{name}: epsilon {epsilon}, {margin}, charge {charge}, left {left}"
            for name, epsilon, margin, charge, left, _, _ in self.rows()
        )
        return f"<Cost: {tiers or 'no tier'}. {self.headline()}>"

    def _left(self, tier: str, share: float | None) -> str:
        remaining = self.remaining(tier)
        epsilon = "" if remaining is None else f"epsilon {short(remaining.epsilon)}"
        parts = [part for part in (_percent(share), epsilon) if part]
        return parts[0] if len(parts) == 1 else f"{parts[0]} ({parts[1]})" if parts else ""

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEADS)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in row)}</tr>"
            for row in self.rows()
        )
        return (
            f"<div><p><strong>{escape(printable(self.question))}</strong><br>"
            f"{escape(printable(self.headline()))}</p>"
            f"{''.join(f'<p>{escape(printable(note))}</p>' for note in self.notes)}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def _percent(share: float | None) -> str:
    """Return a part of a budget as a percentage."""
    return "" if share is None else f"{short(100 * share)}%"
