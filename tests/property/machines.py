"""Run machines that try everything, each over a server of its own."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.property.tiers.machine import Pair, Rules
from tests.unit.worlds import Clock

from penstock.services.context import Server


@dataclass
class Machines:
    """Make machines, and count what all of them tried."""

    server: Callable[[Clock], Server]
    tried: Counter[Pair] = field(default_factory=Counter)

    kind: type[Rules] = Rules

    def __call__(self) -> Rules:
        return self.kind(self.server, self.tried)
