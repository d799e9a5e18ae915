"""Provide homes on either database, and copies of them that share nothing with the original."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.services.operations import home
from penstock.settings import Settings

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster

SQLITE, POSTGRESQL = "sqlite", "postgresql"
BACKENDS = (SQLITE, POSTGRESQL)


PATIENCE = 120.0
"""Seconds for the log: a machine that is busy with other tests fails none of them."""


@dataclass(frozen=True)
class Home:
    """Hold a home folder, and the name of its database where that is not in the folder."""

    folder: Path
    database: str | None
    urls: dict[str, str]

    def settings(self, **changes: Any) -> Settings:
        """Return the settings of a server that lives in it."""
        own = {"home": self.folder, "log_patience": PATIENCE, "data_anywhere": True}
        return Settings(**{**own, **self.urls, **changes})

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings as a program of its own takes them."""
        named = {"home": str(self.folder), "log_patience": str(PATIENCE), "data_anywhere": "on"}
        named |= self.urls
        return {f"PENSTOCK_{name.upper()}": value for name, value in named.items()}


@dataclass
class Homes:
    """Make homes on one kind of database, and remove their databases in the end."""

    cluster: "Cluster | None"
    made: list[str] = field(default_factory=list)

    def bare(self, folder: Path) -> Home:
        """Return a place for a home, with an empty database where one is needed."""
        return self._at(folder, self.cluster.create() if self.cluster else None)

    def empty(self, folder: Path) -> Home:
        """Return a home with nothing in it."""
        made = self.bare(folder)
        home.create(made.settings())
        return made

    def copy(self, original: Home, folder: Path) -> Home:
        """Return a copy of a home that nobody is connected to."""
        shutil.copytree(original.folder, folder)
        name = self.cluster.create(original.database or "") if self.cluster else None
        return self._at(folder, name)

    def remove(self) -> None:
        """Drop the databases; the folders are somebody else's."""
        while self.cluster and self.made:
            self.cluster.drop(self.made.pop())

    def _at(self, folder: Path, database: str | None) -> Home:
        if self.cluster is None or database is None:
            return Home(folder, None, {})
        self.made.append(database)
        urls = {
            "database_url": self.cluster.url(database),
            "migration_database_url": self.cluster.url(database, role="penstock_owner"),
        }
        return Home(folder, database, urls)
