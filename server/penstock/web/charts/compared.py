"""Draw the privacy loss that counts and the losses that it is compared with."""

from dataclasses import dataclass

from .drawing.svg import NARROW, document
from .drawing.values import Table
from .losses import EACH, Loss, loss_bars


@dataclass(frozen=True)
class Losses:
    """Hold privacy losses to compare: ``counts`` is drawn filled, ``others`` with dashed frames."""

    title: str
    counts: Loss
    others: tuple[Loss, ...]

    @property
    def all(self) -> tuple[Loss, ...]:
        """Return all losses in their order."""
        return self.counts, *self.others


def compared(content: Losses, prefix: str, width: int = NARROW) -> str:
    """Return the chart: bars below one another, all starting at zero."""
    described = "; ".join(f"{loss.name}: {loss.written}" for loss in content.all)
    parts = loss_bars(content.all, 0, 0, min(width, 560))
    return document(prefix, content.title, f"{described}.", (width, EACH * len(content.all)), parts)


def rows(content: Losses) -> Table:
    """Return the same numbers, one row per loss."""
    body = tuple((loss.name, loss.written) for loss in content.all)
    return Table(content.title, ("what", "privacy loss"), body, frozenset({1}))
