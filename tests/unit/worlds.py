"""Provide a small server with people, data and a clock that tests move."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.sites import SITES, VISITS

from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR, Principal, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.noise.long_vectors import sizes
from penstock.services.people import tier_changes, users
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.releases.releases import Answer
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
)
from penstock.services.schemas.views import QueryView


@dataclass
class Clock:
    """Keep a clock that is moved by hand."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **spans: float) -> None:
        self.now += timedelta(**spans)


@dataclass
class Streams:
    """Give keyed streams in a row; count how often noise was asked for."""

    taken: int = 0

    def __call__(self) -> Stream:
        self.taken += 1
        return Stream.from_key(self.taken.to_bytes(32, "little"))


@dataclass
class World:
    """Hold a server with three tiers, a dataset of pushed vectors, and somebody at every tier."""

    server: Server
    clock: Clock
    streams: Streams

    def person(self, name: str) -> Principal:
        return acting_as(self.server, name)

    def ask(self, name: str, query: str = "visits", /, **wanted: object) -> Answer:
        request = ReleaseRequest.model_validate(wanted)
        return releases.request(self.server, self.person(name), query, request)

    def push(self, name: str = "visits", **changes: object) -> QueryView:
        request = PushedVectorRequest.model_validate({**VISITS, "name": name, **changes})
        return registration.register(self.server, OPERATOR, request)


def cut_off_before_the_anchor(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Register by ``act``, and stop between the charge and the anchor, as a crash would."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", crash)
        with pytest.raises(KeyboardInterrupt):
            act()


def fill(world: World) -> None:
    """Add three tiers, a person at each, an admin, an auditor, and a dataset of pushed vectors."""
    for name in ("public", "partner", "internal"):
        tier_changes.create(world.server, OPERATOR, TierSpec(name=name))
    for name, tier in (("pia", "public"), ("paul", "partner"), ("ines", "internal")):
        users.create(world.server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier))
    users.create(world.server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
    users.create(world.server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(SITES))


def fill_and_push(world: World) -> None:
    """Add what ``fill`` adds, and one Gaussian query of three values."""
    fill(world)
    world.push()


CopyWorld = Callable[[str, Callable[[World], object]], World]


Keep = Callable[[str, str], Path]


Restore = Callable[[], World]


LONG_VALUES = [7 * place % 50 for place in range(20)]
"""What the long query of ``push_long`` holds: three chunks of eight, the last not full."""


def push_long(world: World, monkeypatch: pytest.MonkeyPatch, **changes: object) -> QueryView:
    """Register ``long``, with chunks so small that three of them make a vector."""
    monkeypatch.setattr(sizes, "CHUNK", 8)
    return world.push("long", **{"values": LONG_VALUES, "keys": None, **changes})
