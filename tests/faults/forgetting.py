"""Provide keys that are destroyed, and where to look for what is left of them."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from sqlmodel import col, select
from tests.faults.kills.steps import Steps
from tests.faults.stage import DIMENSION, TIERS, open_home, settings_of

from penstock.encryption import Key, KeyRing, dataset_context
from penstock.encryption.keyring import _name
from penstock.persistence.tables import Dataset, Query
from penstock.services import kept_keys
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.noise.keys import dataset_key, query_key
from penstock.services.operations import home, key_rotation
from penstock.services.people import tier_changes, users
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
)

QUERIED = "first"
Flaw = Callable[[], None]

_hoard: list[Key] = []


def build(folder: Path) -> None:
    """Build a home with a dataset, a query over it, and an analyst who reads it."""
    home.create(settings_of(folder))
    server = open_home(folder)
    for tier in TIERS:
        tier_changes.create(server, OPERATOR, TierSpec(name=tier))
    users.create(server, OPERATOR, UserSpec(name="ann", roles=["analyst"], clearance=TIERS[-1]))
    register(server, QUERIED)
    wanted = {
        "name": "counts",
        "dataset": QUERIED,
        "values": list(range(DIMENSION)),
        "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
        "mechanism": "gaussian",
        "levels": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}},
    }
    registration.register(server, OPERATOR, PushedVectorRequest.model_validate(wanted))
    server.database.close()


def register(server: Server, name: str) -> None:
    """Register one more dataset, with a key of its own."""
    wanted = {
        "name": name,
        "source": {"engine": "vector"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "budgets": {tier: {"epsilon": 20.0} for tier in TIERS},
    }
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(wanted))


def shred_once(folder: Path, steps: Steps, taken: Path, name: str) -> None:
    """Shred a dataset, and end at the step that ``steps`` names."""
    server = open_home(folder)
    with steps.watching():
        key_rotation.shred(server, OPERATOR, name)
    taken.write_text(json.dumps(steps.taken))


def renew_once(folder: Path, steps: Steps, taken: Path, name: str) -> None:
    """Change the ring as a rotation, and then shredding, change it for one dataset."""
    ring = KeyRing.load(settings_of(folder).keys_path / home.KEY_RING)
    context = dataset_context(f"{name}@1")
    with steps.watching():
        ring.renew(context)
        ring.drop(ring.keys_of(context)[:-1])
        ring.destroy(context)
    taken.write_text(json.dumps(steps.taken))


def renew(ring: Path, name: str) -> None:
    """Make a key for a dataset at the provider."""
    KeyRing.load(ring).renew(dataset_context(f"{name}@1"))


def destroy(ring: Path, name: str) -> None:
    """Destroy a dataset's keys at the provider, as the last part of shredding does."""
    KeyRing.load(ring).destroy(dataset_context(f"{name}@1"))


def serve(folder: Path, name: str, by_itself: bool, flaw: Flaw, told: Path, go: Path) -> None:
    """Hand out and draw releases; continue when the file ``go`` is there, and keep running."""
    flaw()
    server = open_home(folder)
    for level in (0.02, 0.03, 0.035, 0.04):
        releases.request(server, acting_as(server, "ann"), "counts", ReleaseRequest(epsilon=level))
    _tell(told)
    while not go.exists():
        time.sleep(0.01)
    if by_itself:
        key_rotation.shred(server, OPERATOR, name)
    _tell(told)
    while True:
        time.sleep(1)


def never_over() -> None:
    """Keep keys as the product does, for as long as the process lives."""
    kept_keys.SECONDS = 3600.0  # type: ignore[misc]  # what the flaw is


def no_flaw() -> None:
    """Leave the product as it is."""


def hoarding() -> None:
    """Keep every key for the next request."""
    product = Key.__init__

    def keep(key: Key, material: bytes) -> None:
        product(key, material)
        _hoard.append(key)

    Key.__init__ = keep  # type: ignore[assignment, method-assign]  # the same, and kept


def ring_keys(ring: Path, name: str) -> list[bytes]:
    """Return the keys of a dataset that a ring has."""
    content = json.loads(ring.read_text())
    names = content["contexts"].get(_name(dataset_context(f"{name}@1")), [])
    return [base64.b64decode(content["keys"][one]) for one in names]


def secrets_of(server: Server, ring: Path, name: str) -> dict[str, bytes]:
    """Return what opens a dataset's query, by its kind: from the ring to a record's own key."""
    (wrapping,) = ring_keys(ring, name)
    with server.database.read() as session:
        dataset = session.exec(select(Dataset).where(col(Dataset.name) == name)).one()
        query = session.exec(select(Query).where(col(Query.dataset_id) == dataset.id)).one()
        kek, dek = dataset_key(server, dataset), query_key(server, dataset, query)
    return {"wrapping": wrapping, "dataset": kek.material, "query": dek.material}


def spellings(secret: bytes) -> tuple[bytes, bytes]:
    """Return how a key of 32 bytes may stand somewhere."""
    return secret, base64.b64encode(secret)[:-2]


def in_memory(pid: int, secrets: Mapping[str, bytes]) -> dict[str, int]:
    """Return how often each secret is in the memory of a process."""
    found = dict.fromkeys(secrets, 0)
    for part in _memory(pid):
        for name, secret in secrets.items():
            found[name] += sum(part.count(form) for form in spellings(secret))
    return found


def _memory(pid: int) -> Iterator[bytes]:
    """Yield all of a process's memory that can be read."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in maps.splitlines():
            place = re.match(r"([0-9a-f]+)-([0-9a-f]+) r.*?(\[v\w+\])?$", line)
            if place and not place[3]:
                start, end = int(place[1], 16), int(place[2], 16)
                memory.seek(start)
                # A file that was cut short since cannot be read beyond its end.
                with suppress(OSError):
                    yield memory.read(end - start)


def _tell(told: Path) -> None:
    with told.open("a") as file:
        file.write("here\n")
