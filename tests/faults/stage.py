"""Provide the home that the processes of a test share, and who asks it for what."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.random import Generator
from sqlmodel import col, func, select

from penstock.mechanisms import IntVector
from penstock.persistence.tables import Grant, Query, QueryLevel, Release, User
from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.operations import home
from penstock.services.people import tier_changes, users
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.releases.allowed import AllowedRequest
from penstock.services.releases.grants import NamedRelease, view_of
from penstock.services.releases.releases import Answer
from penstock.services.repository.queries import query_by_name
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
)
from penstock.services.schemas.views import ReleaseView
from penstock.settings import Settings
from penstock.transparency_log.leaves import AppendedLeaf, receipt_of

DIMENSION = 12
MECHANISMS = ("gaussian", "laplace", "poisson", "skellam")
TIERS = ("public", "internal")
HANG = 600.0
"""Seconds that a server waits for a lock, for the log and to be connected."""
REACH = 4000
"""How many rungs above the public one are asked for."""


def choices(*label: object) -> Generator:
    """Return a generator with a key of its own for ``label``, so that every run is alike."""
    key = hashlib.sha256(repr(label).encode()).digest()
    return Stream.from_key(key).generator


@dataclass(frozen=True)
class Ask:
    """Describe one release to be requested."""

    query: str
    rung: int
    level: float


def urls_beside(folder: Path) -> Path:
    """Return the file with the URLs of a home's database, where that is not in the home."""
    return folder.with_name(f"{folder.name}-urls.json")


def write_urls(folder: Path, urls: dict[str, str]) -> None:
    """Write the settings of a home's database beside it."""
    urls_beside(folder).write_text(json.dumps(urls))


def settings_of(folder: Path) -> Settings:
    """Return the settings of a home, as every process reads them for itself."""
    found = json.loads(urls_beside(folder).read_text())
    # Nobody gives up waiting, for a lock or the log: the machine's speed decides nothing.
    urls = {
        name: f"{value}&connect_timeout={HANG:.0f}" if name.endswith("_url") else value
        for name, value in found.items()
    }
    waits = dict.fromkeys(("busy_timeout", "log_patience", "database_patience"), HANG)
    patient: dict[str, Any] = {**waits, **urls}
    # In full, a race hands each reader thousands of levels that no tier has.
    patient["levels_per_day"] = 0
    return Settings(home=folder, data_anywhere=True, **patient)


def open_home(folder: Path) -> Server:
    """Return the server as every process opens it for itself."""
    return home.open_server(settings_of(folder))


@contextmanager
def opened(folder: Path) -> Iterator[Server]:
    """Yield the server for a while, with no connection left behind."""
    server = open_home(folder)
    yield server
    server.database.close()


def build(folder: Path, *, analysts: int, names: Sequence[str] = ()) -> None:
    """Build a home with two tiers, ``analysts`` people, and a query of every name."""
    home.create(settings_of(folder))
    server = open_home(folder)
    for tier in TIERS:
        tier_changes.create(server, OPERATOR, TierSpec(name=tier))
    for number in range(analysts):
        clearance = TIERS[number % len(TIERS)]
        users.create(
            server,
            OPERATOR,
            UserSpec(name=analyst(number), roles=["analyst"], clearance=clearance),
        )
    sites = {
        "name": "sites",
        "source": {"engine": "vector"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "budgets": {tier: {"epsilon": 20.0} for tier in TIERS},
    }
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(sites))
    for number, name in enumerate(names):
        mechanism = MECHANISMS[number % len(MECHANISMS)]
        registration.register(server, OPERATOR, vector_query(name, mechanism))
    server.database.close()


def vector_query(name: str, mechanism: str, **changes: object) -> PushedVectorRequest:
    """Return a pushed vector that leaves room in the budgets for hundreds like it."""
    request = {
        "name": name,
        "dataset": "sites",
        "values": list(range(100, 100 + DIMENSION)),
        "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
        "mechanism": mechanism,
        "levels": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}},
        "max_levels": 4096,
    }
    return PushedVectorRequest.model_validate({**request, **changes})


def analyst(number: int) -> str:
    """Return the name of an analyst."""
    return f"analyst-{number}"


def asks(server: Server, name: str, rungs: Sequence[int]) -> list[Ask]:
    """Return requests for the rungs that lie ``rungs`` above the public tier's."""
    with server.database.read() as session:
        query = query_by_name(session, name)
        public = session.exec(
            select(func.max(col(QueryLevel.rung))).where(col(QueryLevel.query_id) == query.id)
        ).one()
    ladder = kind_of(query).ladder
    return [Ask(name, public + rung, float(ladder.value(public + rung))) for rung in rungs]


def some_rungs(count: int, *label: object) -> list[int]:
    """Return ``count`` different rungs out of ``REACH``, in random order."""
    return [1 + int(rung) for rung in choices(*label).permutation(REACH)[:count]]


def shuffled(wanted: Sequence[Ask], *label: object) -> list[Ask]:
    """Return the same requests in another order."""
    return [wanted[place] for place in choices(*label).permutation(len(wanted))]


def answer(server: Server, name: str, ask: Ask) -> Answer:
    """Return what the product gives an analyst."""
    wanted = ReleaseRequest(level=ask.level)
    return releases.request(server, acting_as(server, name), ask.query, wanted)


def has_been_given(server: Server, name: str, ask: Ask) -> bool:
    """Return whether an analyst holds a release, by what is stored."""
    with server.database.read() as session:
        found = session.exec(
            select(Grant.id)
            .join(Release, col(Grant.release_id) == col(Release.id))
            .join(Query, col(Release.query_id) == col(Query.id))
            .join(User, col(Grant.user_id) == col(User.id))
            .where(
                col(User.name) == name,
                col(Query.name) == ask.query,
                col(Release.rung) == ask.rung,
            )
        ).first()
    return found is not None


def view_as(
    allowed: AllowedRequest,
    release: NamedRelease,
    leaf: AppendedLeaf,
    steps: IntVector | LongVector,
) -> ReleaseView:
    """Return a release as its reader would see it, whatever became of its leaf."""
    query, dataset, tier = allowed.query, allowed.dataset, allowed.tier
    receipt = receipt_of(leaf)
    return view_of(allowed.kind, query, dataset, tier, release, leaf.at, receipt, steps)
