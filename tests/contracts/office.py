"""A small office: tiers, people, a dataset and a query, as an operator would make them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.api.world import DATASET, QUERY
from tests.contracts.distributions import Installation

EXACT = tuple(QUERY["values"])
# A dozen standard deviations: a Gaussian value is further off once in 1e32.
FURTHEST = 12
CHECKPOINTS = ("checkpoints.json", "checkpoints.json.lock")
"""What the client leaves: the log's checkpoints that it saw last, and the lock on them."""


@dataclass(frozen=True)
class Office:
    """A folder in which nothing but ``penstock`` was ever typed."""

    installation: Installation
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def type(self, *words: str, said: str = "") -> str:
        """What ``penstock`` prints."""
        return self.installation.run("penstock", *words, folder=self.folder, said=said)

    def open(self) -> None:
        """Tiers, people with their tokens, a dataset and a query."""
        self.type("tier", "create", "public", "--rank", "10")
        self.type("tier", "create", "internal", "--above", "public")
        self.invite("root", "--role", "admin")
        self.invite("ann", "--role", "analyst", "--clearance", "public")
        self.invite("olga", "--role", "auditor")
        self.type("dataset", "register", "-", said=json.dumps(DATASET))
        self.type("query", "register", "-", said=json.dumps(QUERY))

    def invite(self, name: str, *options: str) -> None:
        """A user, and a token, which alone is printed."""
        self.type("user", "create", name, *options)
        self.tokens[name] = self.type("token", "create", name).removesuffix("\n")


def assert_near_the_exact_values(release: dict[str, Any]) -> None:
    """What was released is the statistic, with noise of the size that the release states."""
    deviation = release["error"]["standard_deviation"]
    for value, exact in zip(release["values"], EXACT, strict=True):
        assert abs(value - exact) < FURTHEST * deviation
