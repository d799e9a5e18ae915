"""One privacy loss beside another: bars from zero, each with its name above it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.web.charts.drawing.lettering import fitted, width_of
from penstock.web.charts.drawing.marks import colored
from penstock.web.charts.drawing.numbers import loss
from penstock.web.charts.drawing.svg import STRONG, number, text, told
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


def loss_bars(losses: Sequence[Loss], x: float, y: float, width: float) -> Iterator[str]:
    """Bars below one another, ``EACH`` high, the first full and the others framed."""
    room = width - max(width_of(one.written, bold=True) for one in losses) - 12
    largest = max((one.epsilon or 0.0 for one in losses), default=0.0) or 1.0
    if any(one.epsilon is None for one in losses):
        largest *= BEYOND
    for place, one in enumerate(losses):
        top = y + EACH * place
        part = 1.0 if one.epsilon is None else max(one.epsilon, 0.0) / largest
        long = max(part * room, 1.0)
        yield text(x, top + 14, fitted(one.name, width))
        fill = 'fill="currentColor"' if not place else 'fill="currentColor" fill-opacity="0.12"'
        dashed = ' stroke-dasharray="5 3"' if place else ""
        shape = (
            f'<rect class="loss" {fill} stroke="currentColor" stroke-width="1.5"{dashed}'
            f' x="{number(x + 1)}" y="{number(top + 21)}" width="{number(long)}" height="{BAR}"/>'
        )
        yield told(f"{one.name}: {one.written}", colored(2 * place), [shape])
        yield text(x + long + 9, top + 21 + BAR - 4.5, one.written, kind=STRONG)
