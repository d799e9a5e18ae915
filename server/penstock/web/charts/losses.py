"""Draw privacy losses as bars from zero, each with its name above it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from .drawing.lettering import fitted, width_of
from .drawing.marks import colored, shaded
from .drawing.numbers import loss
from .drawing.svg import STRONG, element, group, text
from .drawing.values import finite

BAR = 18
BEYOND = 1.6
"""Length of the bar of an unbounded loss, as a multiple of the longest other bar."""

EACH = 52
TOGETHER = "Privacy loss of all releases together"
INDEPENDENT = "Privacy loss if drawn independently"


@dataclass(frozen=True)
class Loss:
    """Represent a privacy loss with its name; the epsilon None means that it is unbounded."""

    name: str
    epsilon: float | None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            finite(self.epsilon, f"the epsilon of {self.name}")

    @property
    def written(self) -> str:
        """Return the number as written beside the bar and in tables."""
        return f"ε {loss(self.epsilon)}"


def loss_bars(losses: Sequence[Loss], x: float, y: float, width: float) -> Iterator[Element]:
    """Yield bars below one another, ``EACH`` apart: the first filled, the others dashed frames."""
    room = width - max(width_of(item.written, bold=True) for item in losses) - 12
    largest = max((item.epsilon or 0.0 for item in losses), default=0.0) or 1.0
    if any(item.epsilon is None for item in losses):
        largest *= BEYOND
    for place, item in enumerate(losses):
        top = y + EACH * place
        part = 1.0 if item.epsilon is None else max(item.epsilon, 0.0) / largest
        long = max(part * room, 1.0)
        yield text(x, top + 14, fitted(item.name, width))
        look = {"fill-opacity": "0.12", "stroke-dasharray": "5 3"} if place else {}
        bar = element(
            "rect",
            class_="loss",
            fill="currentColor",
            stroke="currentColor",
            stroke_width="1.5",
            x=x + 1,
            y=top + 21,
            width=long,
            height=BAR,
            **look,
        )
        yield group(
            colored(2 * place) if place else shaded(0), bar, title=f"{item.name}: {item.written}"
        )
        yield text(x + long + 9, top + 21 + BAR - 4.5, item.written, kind=STRONG)
