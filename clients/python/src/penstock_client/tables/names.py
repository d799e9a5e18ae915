"""Name the derived columns of a spec: those that ``mutate`` added, and those without a name.

A derived column is computed from declared columns alone, so columns that ``mutate`` added are
replaced by their expressions wherever another one is computed from them.
"""

import difflib
from collections.abc import Collection, Mapping

from penstock_client.errors import InvalidArgument
from penstock_client.tables.conditions import Spec, Value
from penstock_client.tables.expressions import Column

LONGEST = 100


class Names:
    """Hold the columns that a question may use, and the derived ones that it did use.

    ``columns`` are the declared ones of ``dataset``, ``added`` those that ``mutate`` added.
    """

    def __init__(self, dataset: str, columns: Collection[str], added: Mapping[str, Value]) -> None:
        self._dataset = dataset
        self._columns = columns
        self._added = added
        self.derived: dict[str, Spec] = {}

    def name_of(self, expression: Value) -> str:
        """Return the name of the column with these values, after deriving it if it is new.

        Raises ``InvalidArgument`` for a column that does not exist.
        """
        self.require(expression)
        if isinstance(expression, Column):
            if expression.name in self._added:
                self.derived.setdefault(expression.name, expression.spec(self._added))
            return expression.name
        spec = expression.spec(self._added)
        for name, other in self._added.items():
            if other.spec(self._added) == spec:
                self.derived.setdefault(name, spec)
                return name
        name = str(expression)[:LONGEST]
        while self.derived.get(name, spec) != spec or name in self._columns or name in self._added:
            name += "'"
        self.derived.setdefault(name, spec)
        return name

    def require(self, expression: Value) -> None:
        """Raise ``InvalidArgument`` if a column of the expression does not exist."""
        for name in expression.columns():
            if name not in self._columns and name not in self._added:
                known = [*self._columns, *self._added]
                near = difflib.get_close_matches(name, known, 1)
                hint = f" Is it {near[0]!r}?" if near else ""
                raise InvalidArgument(
                    f"Dataset {self._dataset!r} has no column {name!r}.{hint} Its columns:"
                    f" {', '.join(known)}."
                )
