"""Say where in the text of a statement something stands, and refuse it there."""

from dataclasses import dataclass

from sqlglot import Token, exp

from penstock.errors import InvalidInput

POINTER = "/sql"

Spot = exp.Expr | Token | int
"""Something in a text: a node, a token, or the number of a character, from 0."""


@dataclass(frozen=True)
class SqlText:
    """Hold the text of a statement."""

    text: str

    def refusal(self, spot: Spot, sentence: str) -> InvalidInput:
        """Return the refusal of what stands at a spot, with its line and column."""
        return InvalidInput(self.placed(spot, sentence), pointer=POINTER)

    def placed(self, spot: Spot, sentence: str) -> str:
        """Return a sentence with the line and the column of a spot in front, both from 1."""
        start = min(start_of(spot), len(self.text))
        line = self.text.count("\n", 0, start) + 1
        column = start - self.text.rfind("\n", 0, start)
        return f"Line {line}, column {column}: {sentence}"


def start_of(spot: Spot) -> int:
    """Return the number of the first character of a spot; of a node its first part that has one.

    Some nodes have none, such as ``NULL``: then it is that of what they are a part of.
    """
    if isinstance(spot, int):
        return spot
    if isinstance(spot, Token):
        return spot.start
    outer: exp.Expr | None = spot
    while outer is not None:
        starts = [int(node.meta["start"]) for node in outer.walk() if "start" in node.meta]
        if starts:
            return min(starts)
        outer = outer.parent
    return 0
