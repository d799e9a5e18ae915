"""Provide a measured figure, what it should reach, and the table that shows both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Print = Callable[[str], None]


@dataclass(frozen=True)
class Goal:
    """Hold a bound on a figure: from below, or with ``at_most`` from above."""

    bound: float
    at_most: bool = False

    def reached(self, value: float) -> bool:
        """Return whether ``value`` keeps to the bound."""
        return value <= self.bound if self.at_most else value >= self.bound

    def __str__(self) -> str:
        return f"{'<=' if self.at_most else '>='} {self.bound:g}"


@dataclass(frozen=True)
class Figure:
    """Hold one line of a table.  ``spread`` are the quartiles of what ``value`` sums up."""

    name: str
    value: float
    unit: str
    spread: tuple[float, float] | None = None
    goal: Goal | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the line as text: name, value, unit, spread, goal, and whether it is reached."""
        low_high = (
            "" if self.spread is None else f"{_short(self.spread[0])} - {_short(self.spread[1])}"
        )
        reached = "" if self.goal is None else ("yes" if self.goal.reached(self.value) else "NO")
        goal = "" if self.goal is None else str(self.goal)
        return self.name, _short(self.value), self.unit, low_high, goal, reached


HEADS = ("figure", "value", "", "quartiles", "goal", "reached")
_RIGHT = (False, True, False, True, True, False)


def table(title: str, figures: Sequence[Figure]) -> str:
    """Return figures in aligned columns under a title."""
    lines = [HEADS, *(figure.cells() for figure in figures)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    rows = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, _RIGHT, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([title, *(f"  {row}" for row in rows)])


def _short(value: float) -> str:
    """Return three digits that count, without an exponent."""
    for digits in range(4):
        if abs(value) >= 10 ** (2 - digits):
            return f"{value:.{digits}f}"
    return f"{value:.4f}"
