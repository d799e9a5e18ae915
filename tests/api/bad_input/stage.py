"""A server that no bad request may change, and what its home held before."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.bad_input import asking, computed, datasets, people, vectors
from tests.api.bad_input.faults import BUSY_TIMEOUT, Place
from tests.api.bad_input.snapshot import snapshot
from tests.api.world import World, open_world

CANARY = "canary-4711"
SETTINGS: Mapping[str, Any] = {
    "query_body_limit": 2**22,
    "dimension_limit": 20_000,
    "busy_timeout": BUSY_TIMEOUT,
}
FILE = "stays.csv"
BY_TOWN = {
    **computed.GOOD,
    "name": "by_town",
    "where": [],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
}


@dataclass(frozen=True)
class Stage:
    """A server, the file of its dataset, what its home held, and a good answer."""

    world: World
    file: Path
    before: dict[str, str]
    answer: dict[str, Any]

    @property
    def place(self) -> Place:
        """Where the home is, and the file."""
        return Place(self.world.server.settings.home, self.file)

    def now(self) -> dict[str, str]:
        """What its home holds now."""
        home = self.place.home
        return snapshot(self.place.database, home / "keys", home / "witness", self.file)

    def require_unharmed(self) -> None:
        """Raise unless all is as it was, and a good request is answered as it was."""
        assert self.now() == self.before
        assert self.world.answer("POST", asking.ASK, {}, by="ann") == self.answer


def write_file(path: Path) -> None:
    """Sixty people in two towns."""
    rows = (f"{CANARY}-{n},{'north' if n % 3 else 'south'},{n % 5}\n" for n in range(60))
    path.write_text("person,town,visits\n" + "".join(rows))


def set_up(furnished: tuple[Path, dict[str, str]], folder: Path) -> Stage:
    """A copy of the furnished home, with a file that is read and a tier below all others."""
    shutil.copytree(furnished[0], folder / "home")
    world = open_world(folder / "home", dict(furnished[1]), **SETTINGS)
    file = folder / FILE
    write_file(file)
    world.answer("POST", datasets.DATASETS, datasets.of_file(str(file)), by="root")
    world.answer("POST", vectors.QUERIES, BY_TOWN, by="root")
    world.answer("POST", people.TIERS, {"name": "street", "rank": 1}, by="root")
    stage = Stage(world, file, {}, world.answer("POST", asking.ASK, {}, by="ann"))
    stage.before.update(stage.now())
    return stage
