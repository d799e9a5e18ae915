"""Some privacy losses beside one another: one that counts, and what it is to be seen against."""

from dataclasses import dataclass

from penstock.web.charts.drawing.svg import NARROW, document
from penstock.web.charts.drawing.values import Table
from penstock.web.charts.losses import EACH, Loss, loss_bars


@dataclass(frozen=True)
class Losses:
    """``counts`` is drawn full, the others are framed."""

    title: str
    counts: Loss
    others: tuple[Loss, ...]

    @property
    def all(self) -> tuple[Loss, ...]:
        """Every one of them, in order."""
        return self.counts, *self.others


def compared(content: Losses, prefix: str, width: int = NARROW) -> str:
    """Bars below one another, all from zero."""
    described = "; ".join(f"{loss.name}: {loss.written}" for loss in content.all)
    parts = loss_bars(content.all, 0, 0, min(width, 560))
    return document(prefix, content.title, f"{described}.", (width, EACH * len(content.all)), parts)


def rows(content: Losses) -> Table:
    """The same numbers, a row each."""
    body = tuple((loss.name, loss.written) for loss in content.all)
    return Table(content.title, ("what", "privacy loss"), body, frozenset({1}))
