"""Provide a server that no bad request may change, and the content of its home before."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.api.bad_input.faults import BUSY_TIMEOUT, REQUESTS, Fault, Place
from tests.api.bad_input.snapshot import files, tables, tables_of
from tests.api.bad_input.tables import asking, computed, datasets, keyed, vectors
from tests.api.bad_input.verdict import judge
from tests.api.world import World, furnish, open_world
from tests.databases.homes import Home, Homes
from werkzeug.test import TestResponse

CANARY = "canary-4711"
SETTINGS: Mapping[str, Any] = {
    "query_body_limit": 2**22,
    "dimension_limit": 20_000,
    "busy_timeout": BUSY_TIMEOUT,
    "failed_sign_ins": 10_000,  # every row of the table is to get its own refusal
}
FILE = "stays.csv"
BY_TOWN = {
    **computed.GOOD,
    "name": "by_town",
    "where": [],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 3},
}


@dataclass(frozen=True)
class Stage:
    """Hold a server, the file of its dataset, the content of its home, and a valid answer."""

    world: World
    home: Home
    file: Path
    before: dict[str, str]
    answer: dict[str, Any]
    read: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was found in the tables, by a hash of the database's files as they were then."""

    @property
    def place(self) -> Place:
        """Return where the home is, and the file."""
        return Place(self.home.folder, self.file)

    def now(self) -> dict[str, str]:
        """Return the present content of its home."""
        kept = files(self.home.folder / "keys", self.home.folder / "witness", self.file)
        if self.home.database is None:
            return {**self._tables(), **kept}
        return {**tables_of(self.world.server.database), **kept}

    def _tables(self) -> dict[str, str]:
        """Read the tables, unless no byte of the database changed since they were read."""
        state = hashlib.sha256(self.place.database.read_bytes())
        ahead = self.place.database.with_name(self.place.database.name + "-wal")
        state.update(ahead.read_bytes() if ahead.exists() else b"")
        if state.hexdigest() not in self.read:
            self.read[state.hexdigest()] = tables(self.place.database)
        return self.read[state.hexdigest()]

    def require_unharmed(self) -> None:
        """Raise unless nothing has changed, and a valid request is answered as before."""
        assert self.now() == self.before
        assert self.world.answer("POST", asking.ASK, {}, by="ann") == self.answer


def write_file(path: Path) -> None:
    """Write a file of sixty people in two towns."""
    rows = (f"{CANARY}-{n},{'north' if n % 3 else 'south'},{n % 5}\n" for n in range(60))
    path.write_text("person,town,visits\n" + "".join(rows))


Furnished = tuple[Home, dict[str, str]]
"""A home with something in it, and the tokens of its users."""


def furnished_home(folder: Path) -> Furnished:
    """Return a furnished home on SQLite, to be copied."""
    made = Homes(None).empty(folder)
    return made, furnish(made)


class Original:
    """Hold a stage that is restored at the same place after each test that damages it."""

    def __init__(self, furnished: Furnished, folder: Path) -> None:
        place = folder / "place"
        place.mkdir()
        self.stage = set_up(furnished, place, Homes(None))
        self.stage.world.server.database.close()
        self.folder = place
        self._kept = folder / "kept"
        self.keep()

    def keep(self) -> None:
        """Keep a copy of the folder, to be restored."""
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(self.folder, self._kept)

    def put_back(self) -> Stage:
        """Return the stage as it was, on a new server, which the caller closes."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)
        world = open_world(self.stage.home, dict(self.stage.world.tokens), **SETTINGS)
        world.clock.now = self.stage.world.clock.now  # the log was signed until then
        return replace(self.stage, world=world, read={})


def set_up(furnished: Furnished, folder: Path, homes: Homes) -> Stage:
    """Return a copy of the furnished home, with a file that is read and a tier below all others."""
    home = homes.copy(furnished[0], folder / "home")
    world = open_world(home, dict(furnished[1]), **SETTINGS)
    file = folder / FILE
    write_file(file)
    (folder / datasets.OTHER_FILE).write_text("person,city,visits\n")
    world.answer("POST", datasets.DATASETS, datasets.of_file(str(file)), by="root")
    world.answer("POST", vectors.QUERIES, BY_TOWN, by="root")
    keyed.furnish(world)
    stage = Stage(world, home, file, {}, world.answer("POST", asking.ASK, {}, by="ann"))
    stage.before.update(stage.now())
    return stage


def ask(stage: Stage, name: str) -> TestResponse:
    """Send one of the requests that are valid as long as nothing is broken."""
    request = REQUESTS[name]
    return stage.world.call(request.verb, request.path, request.body, by=request.by)


def require_told(stage: Stage, fault: Fault) -> None:
    """Raise unless the server refuses what it must, serves what it can, and stays up."""
    for name in fault.refused:
        response = ask(stage, name)
        problem = judge(stage.world, response, fault.status, fault.code)
        assert re.search(fault.says, problem["detail"]), problem
        assert ("Retry-After" in response.headers) == fault.retry
        assert CANARY not in response.text
    for name in fault.served:
        assert ask(stage, name).status_code == 200, name
    assert stage.world.call("GET", "/healthz").status_code == 200


def require_healed(stage: Stage) -> None:
    """Raise unless nothing was lost and every request is answered again."""
    stage.require_unharmed()
    for name in REQUESTS:
        response = ask(stage, name)
        assert response.status_code < 300, (name, response.text)


def limit_pages(stage: Stage, more: int) -> None:
    """Limit the database's growth to so many pages, as on a full disk."""
    with stage.world.server.database.write() as session:
        connection = session.connection()
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + more}")
