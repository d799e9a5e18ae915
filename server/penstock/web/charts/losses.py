"""One privacy loss beside another: bars from zero, each with its name above it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from penstock.web.charts.drawing.lettering import fitted, width_of
from penstock.web.charts.drawing.marks import colored
from penstock.web.charts.drawing.numbers import loss
from penstock.web.charts.drawing.svg import STRONG, element, group, text
from penstock.web.charts.drawing.values import finite

BAR = 18
BEYOND = 1.6
"""How many times longer than all others a bar without bound is."""

EACH = 52
TOGETHER = "Privacy loss of all together"
INDEPENDENT = "Drawn independently instead"


@dataclass(frozen=True)
class Loss:
    """An epsilon under its name; None is a loss that nothing bounds."""

    name: str
    epsilon: float | None

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            finite(self.epsilon, f"the epsilon of {self.name}")

    @property
    def written(self) -> str:
        """The number as it stands beside the bar and in tables."""
        return f"ε {loss(self.epsilon)}"


def loss_bars(losses: Sequence[Loss], x: float, y: float, width: float) -> Iterator[Element]:
    """Bars below one another, ``EACH`` high, the first full and the others framed."""
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
        yield group(colored(2 * place), bar, title=f"{item.name}: {item.written}")
        yield text(x + long + 9, top + 21 + BAR - 4.5, item.written, kind=STRONG)
