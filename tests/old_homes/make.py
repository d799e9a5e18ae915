"""Make a home by the code of an older version, to be upgraded by tests; README.md says how.

It is run under that version, so that it knows nothing of this one: what a version does not offer
yet is left out, and every answer that was given is written down beside the home.
"""

import argparse
import io
import json
import lzma
import sqlite3
import tarfile
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.persistence import migrate
from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.datasets import datasets
from penstock.services.operations import home
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import queries, registration
from penstock.services.releases import releases
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    DatasetRequest,
    HistogramRequest,
    PushedVectorRequest,
    ReleaseRequest,
    VersionRequest,
)
from penstock.settings import Settings

DATA = Path("/tmp/penstock-old-homes")  # noqa: S108  # the same on every machine
"""Where the rows lie while a home is made: it stands in the database."""

ROWS = "person,town,book,pay\n" + "".join(
    f"p{number % 400},{'NESW'[number % 4]},{number % 4},{number * 37 % 500}\n"
    for number in range(1000)
)
BUDGETS = {"public": {"epsilon": 1.0}, "partner": {"epsilon": 2.0}, "internal": {"epsilon": 4.0}}
LEVELS = {"public": {"epsilon": 0.1}, "partner": {"epsilon": 0.25}, "internal": {"epsilon": 0.5}}
SITES: dict[str, Any] = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": BUDGETS,
}
WAGES: dict[str, Any] = {
    "name": "wages",
    "source": {"engine": "duckdb", "uri": str(DATA / "wages.csv")},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": list("NESW")},
        "book": {"type": "integer"},
        "pay": {"type": "number", "lower": 0, "upper": 500, "step": 1},
    },
    "budgets": BUDGETS,
}
GROWN = {"engine": "duckdb", "uri": str(DATA / "grown.csv")}
LOANS = {**WAGES, "name": "loans", "source": {"engine": "duckdb", "uri": str(DATA / "loans.csv")}}
PUSHED: dict[str, Any] = {
    "dataset": "sites",
    "keys": ["a", "b", "c"],
    "values": [120, 7, 0],
    "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
    "levels": LEVELS,
    "max_levels": 32,
}
COMPUTED: dict[str, Any] = {
    "dataset": "wages",
    "group_by": [{"column": "town"}],
    "contribution": {"max_groups": 2, "max_rows_per_group": 2},
    "levels": LEVELS,
    "max_levels": 32,
}
COUNT = {**COMPUTED, "aggregate": {"type": "count"}}
MEAN = {"type": "mean", "column": "pay", "lower": 0, "upper": 500, "step": 1}
SPARSE = {
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 0.5,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 2},
    "mechanism": "gaussian",
    "max_levels": 4,
}
QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "visits": ("0001", {**PUSHED, "mechanism": "gaussian"}),
    "calls": ("0001", {**PUSHED, "mechanism": "laplace"}),
    "goals": ("0001", {**PUSHED, "mechanism": "poisson"}),
    "by_town": ("0001", {**COUNT, "mechanism": "laplace"}),
    "pay_by_town": ("0001", {**COMPUTED, "aggregate": MEAN, "mechanism": "gaussian"}),
    "moves": ("0008", {**PUSHED, "mechanism": "skellam"}),
    "peaks": ("0009", {**PUSHED, "mechanism": "generalized_gaussian", "p": 4}),
    "books": ("0011", {**COMPUTED, **SPARSE}),
}
STREAMS: dict[str, dict[str, Any]] = {
    "hits": {"mechanism": "laplace", "structure": "binary"},
    "clicks": {"mechanism": "gaussian", "structure": "kary", "k": 3},
}
PEOPLE = {"pia": "public", "paul": "partner", "ines": "internal"}


class Clock:
    """Keep a time that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Streams:
    """Provide keyed streams in a row, so that a home made again has the same noise."""

    taken = 0

    def __call__(self) -> Stream:
        self.taken += 1
        return Stream.from_key(self.taken.to_bytes(32, "little"))


class Past:
    """Hold a server of the version that runs, and what it answered."""

    def __init__(self, folder: Path) -> None:
        # Versions of before schema 0022 do not know this setting, and read files everywhere.
        known = {*dir(Settings), *getattr(Settings, "model_fields", ())}
        anywhere: Any = {"data_anywhere": True} if "data_anywhere" in known else {}
        settings = Settings(home=folder, **anywhere)
        home.create(settings)
        self.schema = migrate.NEWEST
        self.server = home.open_server(settings, clock=Clock(), randomness=Streams())
        self.told: dict[str, Any] = {"schema": self.schema, "releases": [], "totals": []}

    def fill(self) -> None:
        """Do what every role does, as far as this version offers it."""
        self._people()
        for spec in (SITES, WAGES, LOANS):
            datasets.register(self.server, OPERATOR, DatasetRequest.model_validate(spec))
        for name, (since, spec) in QUERIES.items():
            if self.schema >= since:
                self._query(name, spec)
        if self.schema >= "0003":
            self._changes()
        if self.schema >= "0004":
            wanted = {"source": GROWN, "budgets": BUDGETS, "disjoint_units": True}
            request = VersionRequest.model_validate(wanted)
            datasets.add_version(self.server, OPERATOR, "wages", request)
            self._query("later", {**COUNT, "mechanism": "gaussian"})
        if self.schema >= "0008":
            self._streams()
        if self.schema >= "0011":
            keys = import_module("penstock.services.operations.key_rotation")
            # Versions that forgot old keys at once waited before that.
            pauses = [lambda: None] if "pause" in keys.rotate.__annotations__ else []
            keys.rotate(self.server, OPERATOR, *pauses)

    def _people(self) -> None:
        for name in ("public", "partner", "internal"):
            tier_changes.create(self.server, OPERATOR, TierSpec(name=name))
        for name, tier in PEOPLE.items():
            users.create(
                self.server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier)
            )
        users.create(self.server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
        users.create(self.server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
        for name in ("gone", "lena"):
            other = UserSpec(name=name, roles=["analyst"], clearance="public")
            users.create(self.server, OPERATOR, other)
        spec = TokenSpec.model_validate({"expires_in": "365d"})
        self.told["token"] = tokens.issue(self.server, OPERATOR, "pia", spec).token
        revoked = tokens.issue(self.server, OPERATOR, "paul", spec)
        tokens.revoke(self.server, OPERATOR, "paul", revoked.token.split("_")[1])
        self.told["revoked"] = revoked.token
        users.disable(self.server, OPERATOR, "gone")

    def _query(self, name: str, spec: dict[str, Any]) -> None:
        if "values" in spec:
            request: Any = PushedVectorRequest
        elif "structure" in spec:
            request = HistogramRequest
        else:
            request = ComputedQueryRequest
        registration.register(self.server, OPERATOR, request.model_validate({**spec, "name": name}))
        for person in PEOPLE:
            self._release(person, name)
        if spec["mechanism"] in ("gaussian", "laplace") and "structure" not in spec:
            self._release("ines", name, epsilon=0.15)

    def _release(self, person: str, name: str, **wanted: Any) -> None:
        asked = ReleaseRequest.model_validate(wanted)
        view = releases.request(self.server, acting_as(self.server, person), name, asked).view
        self.told["releases"].append(
            {
                "person": person,
                "query": name,
                "wanted": wanted,
                "id": view.id,
                "level": view.level.value,
                "keys": [str(key) for key in view.keys],
                "values": view.values.tolist(),
                "leaf_hash": view.receipt.leaf_hash,
            }
        )

    def _changes(self) -> None:
        budgets = import_module("penstock.services.budgets")
        raised = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": 5.0}}})
        budgets.change(self.server, OPERATOR, "sites", raised)
        change = UserChange.model_validate({"clearance": "partner"})
        users.change(self.server, OPERATOR, "lena", change)
        tier_changes.create(self.server, OPERATOR, TierSpec(name="owners", above="internal"))
        self._query("old", {**PUSHED, "mechanism": "gaussian"})
        queries.retire(self.server, OPERATOR, "old")
        self.told["retired"] = "old"

    def _streams(self) -> None:
        streams = import_module("penstock.services.streams.streams")
        shapes = import_module("penstock.services.schemas.streams")
        elements = import_module("penstock.services.streams.stream_elements")
        totals = import_module("penstock.services.streams.stream_totals")
        for name, spec in STREAMS.items():
            whole = {
                "name": name,
                "dataset": "sites",
                "length": 64,
                "max_steps_per_unit": 1,
                "levels": {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.2}},
                **spec,
            }
            opened = shapes.StreamRequest.model_validate(whole)
            streams.open_stream(self.server, OPERATOR, opened)
            for first in (1, 4):
                sent = {"from": first, "values": [first, 2, 3]}
                request = shapes.ElementsRequest.model_validate(sent)
                elements.push(self.server, OPERATOR, name, request)
            for person in ("pia", "ines"):
                found = totals.read(self.server, acting_as(self.server, person), name)
                self.told["totals"].append(
                    {
                        "person": person,
                        "stream": name,
                        "values": [one.values.tolist() for one in found.items],
                    }
                )


def packed(folder: Path, told: dict[str, Any], path: Path) -> None:
    """Write a home and what it answered into one archive, each file with the same date."""
    database = folder / "database" / "penstock.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")
    (folder / "told.json").write_text(json.dumps(told))
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            entry = tarfile.TarInfo(str(file.relative_to(folder)))
            entry.size, entry.mode = file.stat().st_size, 0o600
            archive.addfile(entry, io.BytesIO(file.read_bytes()))
    path.write_bytes(lzma.compress(content.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def main() -> None:
    """Make the home of the version that runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the home is made; it must not exist")
    parser.add_argument("archives", type=Path, help="the folder to put NNNN.tar.xz into")
    given = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    (DATA / "wages.csv").write_text(ROWS)
    (DATA / "loans.csv").write_text(ROWS + "p0,N,2,1\n")
    (DATA / "grown.csv").write_text(ROWS.replace("\np", "\nq"))
    past = Past(given.folder)
    past.fill()
    past.server.database.close()
    packed(given.folder, past.told, given.archives / f"{past.schema}.tar.xz")


if __name__ == "__main__":
    main()
