"""Provide a small office: tiers, people, a dataset and a query, as an operator would make them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.api.world import DATASET, QUERY
from tests.contracts.distributions import Installation

EXACT = tuple(QUERY["values"])
# A dozen standard deviations: a Gaussian value is further off once in 1e32.
FURTHEST = 12
CHECKPOINTS = ("checkpoints.json", "checkpoints.json.lock")
"""What the client leaves: the log's checkpoints that it saw last, and the lock on them."""


@dataclass(frozen=True)
class Office:
    """Hold a folder in which only ``penstock`` was ever typed, and who may query its server."""

    installation: Installation
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def type(self, *words: str, said: str = "") -> str:
        """Return what ``penstock`` prints."""
        return self.installation.run("penstock", *words, folder=self.folder, said=said)

    def open(self, url: str) -> None:
        """Create tiers, people with their tokens, a dataset and a query.

        An admin is typed; all else that admin asks of the server at ``url``.
        """
        self.invite("root", "--role", "admin")
        headers = {"Authorization": f"Bearer {self.tokens['root']}"}
        people: dict[str, dict[str, Any]] = {
            "ann": {"roles": ["analyst"], "clearance": "public"},
            "olga": {"roles": ["auditor"]},
        }
        with httpx.Client(base_url=f"{url}/api/v1", headers=headers, timeout=600) as http:

            def create(kind: str, body: object) -> dict[str, Any]:
                answer = http.post(f"/{kind}", json=body)
                assert answer.status_code == 201, answer.text
                created: dict[str, Any] = answer.json()
                return created

            create("tiers", {"name": "public", "rank": 10})
            create("tiers", {"name": "internal", "above": "public"})
            for name, person in people.items():
                create("users", {"name": name, **person})
                self.tokens[name] = create(f"users/{name}/tokens", {})["token"]
            create("datasets", DATASET)
            create("queries", QUERY)

    def invite(self, name: str, *options: str) -> None:
        """Create a user and a token; only the token is printed."""
        self.type("user", "create", name, *options)
        self.tokens[name] = self.type("token", "create", name).removesuffix("\n")


def assert_near_the_exact_values(release: dict[str, Any]) -> None:
    """Check that a release is the statistic plus noise of the size that the release states."""
    deviation = release["error"]["standard_deviation"]
    for value, exact in zip(release["values"], EXACT, strict=True):
        assert abs(value - exact) < FURTHEST * deviation
