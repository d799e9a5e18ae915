"""Provide a home with three tiers, analysts and queries of pushed vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from penstock.services.access.principals import OPERATOR, Principal, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.operations import home
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.releases.releases import Answer
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
)
from penstock.settings import Settings

DATASET = "measurements"
TIERS = {"public": 10_000.0, "partner": 1_000.0, "internal": 100.0}
"""The variance at which each tier sees a query; the last is the anchor's."""

LARGEST_VALUE = 100_000
PATIENCE = 120.0
"""Seconds for the log: a busy machine makes a benchmark slow, and does not end it."""


@dataclass(frozen=True)
class World:
    """Hold a server in a home of its own."""

    server: Server

    @property
    def home(self) -> Path:
        """Return the home folder."""
        return self.server.settings.home

    def add_query(self, name: str, size: int, tiers: Sequence[str] = tuple(TIERS)) -> None:
        """Register a Gaussian query over ``exact_values(size)``, in sight from ``tiers`` on."""
        registration.register(
            self.server,
            OPERATOR,
            PushedVectorRequest.model_validate(
                {
                    "name": name,
                    "dataset": DATASET,
                    "values": exact_values(size).tolist(),
                    "bound": LARGEST_VALUE,
                    "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
                    "mechanism": "gaussian",
                    "levels": {tier: {"level": TIERS[tier]} for tier in tiers},
                }
            ),
        )

    def add_analyst(self, name: str, clearance: str = list(TIERS)[-1]) -> Principal:
        """Add somebody cleared for the highest tier, or for another."""
        spec = UserSpec(name=name, roles=["analyst"], clearance=clearance)
        users.create(self.server, OPERATOR, spec)
        return acting_as(self.server, name)

    def token(self, name: str) -> str:
        """Return a bearer token of an analyst."""
        return tokens.issue(self.server, OPERATOR, name, TokenSpec()).token

    def ask(self, analyst: Principal, query: str, **wanted: object) -> Answer:
        """Return a release, as the API asks for one."""
        request = ReleaseRequest.model_validate(wanted)
        return releases.request(self.server, analyst, query, request)


def exact_values(size: int) -> NDArray[np.int64]:
    """Return the values behind every query: whole numbers up to ``LARGEST_VALUE``."""
    return np.arange(size, dtype=np.int64) * 7919 % (LARGEST_VALUE + 1)


def levels_between(count: int) -> list[float]:
    """Return variances between the last tier's and the first's, in equal ratios, ascending."""
    low, high = TIERS["internal"], TIERS["public"]
    return [low * (high / low) ** ((step + 1) / (count + 1)) for step in range(count)]


def check_values(values: NDArray[np.float64], size: int, variance: float) -> None:
    """Raise ``AssertionError`` unless these are a release at that level, by 12 deviations."""
    assert values.shape == (size,), f"{values.shape} in place of {size} values"
    furthest = float(np.abs(values - exact_values(size)).max())
    assert 0 < furthest < 12 * variance**0.5, f"a value is off by {furthest}, variance {variance}"


@contextmanager
def fresh_world(**urls: str) -> Iterator[World]:
    """Yield a world in a temporary folder, which goes with it; ``urls`` name another database."""
    with TemporaryDirectory(prefix="penstock-benchmark-") as folder:
        settings = Settings(
            home=Path(folder) / "home",
            log_patience=PATIENCE,
            level_bytes_per_day=0,  # a benchmark draws more levels than an analyst may in a day
            **urls,  # type: ignore[arg-type]  # texts all
        )
        home.create(settings)
        server = home.open_server(settings)
        for name in TIERS:
            tier_changes.create(server, OPERATOR, TierSpec(name=name))
        budgets = {name: {"epsilon": 20.0} for name in TIERS}
        datasets.register(
            server,
            OPERATOR,
            DatasetRequest.model_validate(
                {
                    "name": DATASET,
                    "source": {"engine": "vector"},
                    "neighboring": "add_remove",
                    "delta": 1e-6,
                    "budgets": budgets,
                }
            ),
        )
        try:
            yield World(server)
        finally:
            server.database.close()
