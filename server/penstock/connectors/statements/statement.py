"""Hold the SQL that is recorded and run, and the names that what surrounds it must provide."""

import hashlib
from dataclasses import dataclass

from penstock.connectors.planning.plan import Plan
from penstock.structures.counts import Centered, Lift

SOURCE = "source"
"""The relation that the SQL reads: a column for each declared column."""

TAKEN = "taken"
"""The table of a column's categories, to find the rows that are in none of them."""

BINS = "bins"
"""The table of the bins of a column whose quantiles are read."""

SALT = "salt"
"""The name of the bound parameter."""

KEY = "key"
"""The column of an answer's keys: their positions, or open keys."""

SIZE = "size_answer"
"""The column of the number of units in any group, for groups that are protected together."""


@dataclass(frozen=True)
class Statement:
    """Hold a query's plan, and the SQL that is recorded and run.

    ``sha256`` is the text's, in hexadecimal digits.  The SQL returns one row for each key that has
    a total, in any order; the answer's vector has ``columns`` one after another, and 0 for the
    other keys.  A later version runs the text as it is recorded, and decodes columns by their
    names: a column with another meaning needs another name, as does a table of keys that is made
    otherwise.  Older texts return one row for each declared key, in their order, and have no
    ``KEY``.
    """

    plan: Plan
    text: str
    sha256: str
    columns: tuple[str, ...]

    @property
    def returned(self) -> tuple[str, ...]:
        """Return the names of the columns that a text of this version returns, in their order."""
        sized = overlapping(self.plan) and SIZE not in self.columns
        return (KEY, *self.columns, *((SIZE,) if sized else ()))


def sha256_of(text: str) -> str:
    """Return the SHA-256 of a statement's text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def overlapping(plan: Plan) -> bool:
    """Return True if counts of groups are protected together with the number of units in any."""
    return isinstance(plan.nodes, Lift | Centered) and not plan.flags
