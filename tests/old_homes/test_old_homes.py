"""Test that homes that older versions made are upgraded: the same values, and nothing refused."""

import io
import json
import lzma
import tarfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.databases.homes import PATIENCE
from tests.unit.worlds import Clock, Streams, World

from penstock.errors import PenstockError
from penstock.persistence import migrate
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.datasets.declarations import as_declared
from penstock.services.datasets.population import spec_of
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.operations import home
from penstock.services.queries.exact_answers import planned
from penstock.services.queries.recorded_statement import statement_of
from penstock.services.releases import history
from penstock.services.schemas.streams import ElementsRequest
from penstock.services.streams import stream_elements, stream_totals
from penstock.services.verification.verification import verify
from penstock.settings import Settings
from penstock.transparency_log.spending import accounts

ARCHIVES = sorted(Path(__file__).parent.glob("*.tar.xz"))
NEWEST = ARCHIVES[-1].name[:4]
AT_EVERY_CHANGE = {"0001", "0008", "0010", "0013", "0017", NEWEST}
"""The first, before streams, histograms, HMACs of rows and of the witness, and the last."""

AFTER = timedelta(days=30)
"""How long after they were made the homes are upgraded."""


@dataclass
class Old:
    """Hold a home of an older version, unpacked, and what that version answered."""

    settings: Settings
    told: dict[str, Any]

    def opened(self) -> World:
        """Return the home under this version, with noise that nobody drew before."""
        clock, streams = Clock(), Streams(10**6)
        clock.forward(days=AFTER.days)
        return World(
            home.open_server(self.settings, clock=clock, randomness=streams), clock, streams
        )


def unpack(archive: Path, folder: Path) -> Old:
    """Unpack an archive of ``make.py``."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(archive.read_bytes()))) as content:
        # The archives are the project's own, and the first releases of Python 3.11 know no filter.
        for member in filter(tarfile.TarInfo.isfile, content):
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.extractfile(member).read())  # type: ignore[union-attr]
            path.chmod(member.mode)
    for one in folder.iterdir():
        if one.is_dir():
            one.chmod(0o700)
    settings = Settings(home=folder, log_patience=PATIENCE, data_anywhere=True)
    return Old(settings, json.loads((folder / "told.json").read_text()))


def test_every_schema_before_this_one_has_its_home() -> None:
    """Whoever adds a migration makes the home of the schema before it (README.md)."""
    migrations = Path(migrate.__file__).parents[3] / "migrations" / "versions"
    schemas = sorted(path.name[:4] for path in migrations.glob("[0-9]*.py"))
    assert set(schemas[:-1]) <= {archive.name[:4] for archive in ARCHIVES}


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(
            path,
            id=path.name[:4],
            marks=() if path.name[:4] in AT_EVERY_CHANGE else pytest.mark.nightly,
        )
        for path in ARCHIVES
    ],
)
def test_an_old_home_goes_on_after_its_upgrade(archive: Path, tmp_path: Path) -> None:
    old = unpack(archive, tmp_path)
    assert home.upgrade(old.settings) == (old.told["schema"], migrate.NEWEST)
    world = old.opened()
    try:
        assert world.server.sequencer.suspended is None
        hold_to_what_was_told(world, old.told)
        run_what_was_recorded(world)
        go_on(world, old.told)
        assert verify(world.server, OPERATOR).problems == []
        with world.server.database.read() as session:
            assert world.server.sequencer.witness.seen().accounts == accounts(session)
    finally:
        world.server.database.close()


def run_what_was_recorded(world: World) -> None:
    """Prepare the recorded SQL of every computed query, as raising a level of it does."""
    with world.server.database.read() as session:
        computed = session.exec(select(Query).where(col(Query.sql).is_not(None))).all()
        assert computed
        for query in computed:
            dataset = as_declared(session, session.get_one(Dataset, query.dataset_id), query)
            model = kind_of(query).request_model
            prepared = planned(dataset, model.model_validate_json(query.spec))
            spec = spec_of(dataset)
            assert statement_of(spec, query, prepared, world.server.sources).text == query.sql


def hold_to_what_was_told(world: World, told: dict[str, Any]) -> None:
    """Request all that was handed out before, and require the same values and no draw."""
    drawn = world.streams.taken
    for one in told["releases"]:
        if one["query"] == told.get("retired"):
            again = history.values(world.server, world.person(one["person"]), one["id"])
        else:
            again = world.ask(one["person"], one["query"], **one["wanted"]).view
        assert (again.id, again.values.tolist()) == (one["id"], one["values"]), one["query"]
        assert again.receipt.leaf_hash == one["leaf_hash"]
    for one in told["totals"]:
        found = stream_totals.read(world.server, world.person(one["person"]), one["stream"])
        assert [item.values.tolist() for item in found.items][: len(one["values"])] == one["values"]
    assert world.streams.taken == drawn
    assert authenticate(world.server, told["token"]).name == "pia"
    with pytest.raises(PenstockError):
        authenticate(world.server, told["revoked"])


def go_on(world: World, told: dict[str, Any]) -> None:
    """Draw other levels of every path, take in elements, and register."""
    for name in ("visits", "calls", "by_town", "pay_by_town"):
        drawn = world.ask("ines", name, epsilon=0.2)
        with world.server.database.read() as session:
            query = session.exec(select(Query).where(Query.name == name)).one()
            rows = session.exec(select(Release).where(Release.query_id == query.id)).all()
        mine = next(row for row in rows if row.public_id == drawn.view.id)
        others = [row.rung for row in rows if row is not mine]
        assert mine.accurate_rung == max(rung for rung in others if rung < mine.rung)
        assert mine.noisy_rung == min(rung for rung in others if rung > mine.rung)
        again = world.ask("ines", name, epsilon=0.2).view
        assert (again.values == drawn.view.values).all()
    for name in {one["stream"] for one in told["totals"]}:
        sent = ElementsRequest.model_validate({"from": 7, "values": [5]})
        stream_elements.push(world.server, OPERATOR, name, sent)
    world.push("fresh", share=0.01, levels=None)
    assert world.ask("paul", "fresh").first
