"""Keep the texts of the latest statements: to write one takes longer than all else of planning."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from penstock.connectors.planning.plan import Plan

MOST: Final = 512
"""How many texts are kept; each has some kilobytes."""

Shape = tuple[str, str]


@dataclass(frozen=True)
class Written:
    """Hold what is written of a statement: its text with the hash, and its columns."""

    text: str
    sha256: str
    columns: tuple[str, ...]


class Texts:
    """Keep texts by what they depend on."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._written: OrderedDict[Shape, Written] = OrderedDict()
        self._lock = Lock()

    def of(self, shape: Shape, write: Callable[[], Written]) -> Written:
        """Return what was written of a shape, or write it now."""
        with self._lock:
            written = self._written.get(shape)
            if written is not None:
                self._written.move_to_end(shape)
                return written
        written = write()
        with self._lock:
            self._written[shape] = written
            while len(self._written) > self._most:
                self._written.popitem(last=False)
        return written


def shape_of(plan: Plan, engine: str) -> Shape:
    """Return all of a plan that its text depends on, for an engine.

    Declared keys are tables beside the text, of which it has the numbers of rows alone.  The rest
    is compared as it is written: 1, 1.0 and True are equal, and so are 0.0 and -0.0, but their
    texts are not.
    """
    groupings = [(each.column, bool(each.categories), len(each)) for each in plan.groupings]
    summand = plan.summand
    taken = summand is not None and bool(summand.categories)
    if summand is not None:
        summand = replace(summand, categories=())
    bins = plan.bins and (plan.bins.column, len(plan.bins), plan.bins.edges[0], plan.bins.edges[-1])
    rest = replace(plan, groupings=(), summand=summand, bins=None)
    return engine, repr((rest, taken, groupings, bins))
