"""Test new keys of rows, values and fingerprints: servers go on, and earlier keys forge nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS, STAYS
from tests.unit.services.verification.tampered import TABLES, alter, filled, rows_of, unguarded
from tests.unit.services.versions import add, new_file, with_stays
from tests.unit.worlds import CopyWorld, Restore, World

from penstock.encryption import Secrets, SecretsFile
from penstock.errors import (
    Conflict,
    Forbidden,
    IntegrityViolation,
    InvalidInput,
    KeysUnavailable,
    LogUnavailable,
)
from penstock.http.cursors import Cursors
from penstock.persistence import row_authentication, row_authentication_upgrade
from penstock.persistence.tables import Dataset, Leaf, SecretCheck, User, metadata
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency
from penstock.services.operations import (
    backup,
    digest_rotation,
    home,
    key_rotation,
    secret_rotation,
)
from penstock.services.operations.digest_rotation import rotate_fingerprint, rotate_values
from penstock.services.queries import queries
from penstock.services.schemas.queries import DatasetRequest, LevelsChange
from penstock.services.verification import altered_rows, verification
from penstock.transparency_log import sights
from penstock.transparency_log.witness import FILE, FileWitness, slots

pytestmark = pytest.mark.each_database

USERS = metadata.tables["user"]


@pytest.fixture
def full(copy_world: CopyWorld) -> World:
    """Return a world with at least two rows in every table that is signed."""
    return copy_world("tampered", filled)


@contextmanager
def another(world: World) -> Iterator[Server]:
    """Yield another worker over the same home, which was opened before what happens next."""
    server = home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)
    yield server
    server.database.close()


def key_numbers(world: World) -> list[int]:
    return sorted(world.server.secrets.kept["values"])


def under(world: World, key: bytes) -> set[str]:
    """Return the tables that have a row signed under ``key``."""
    return {
        table
        for table in TABLES
        for row in rows_of(world, table)
        if row_authentication.is_signed(
            key, table, row["mac"], [row[name] for name in row_authentication.columns(table)]
        )
    }


def forge(world: World, key: bytes) -> None:
    """Make somebody an admin, as whoever owns the database and has an earlier key would."""
    row = {**next(one for one in rows_of(world, "user") if one["name"] == "pia"), "admin": True}
    values = [row[name] for name in row_authentication.columns("user")]
    signed = row_authentication.mac(key, "user", values)
    with unguarded(world) as connection:
        change = update(USERS).where(USERS.c.id == row["id"])
        connection.execute(change.values(admin=True, mac=signed))


def is_admin(world: World, name: str) -> bool:
    with world.server.database.read() as session:
        return session.exec(select(User).where(User.name == name)).one().admin


def problems(world: World) -> list[str]:
    """Return what an audit finds: of rows put in for these tests alone, if of anything."""
    return verification.verify(world.server, OPERATOR).problems


def test_every_row_is_under_the_new_key_and_servers_go_on(full: World) -> None:
    before = row_authentication.derived(full.server.secrets.values)
    found_before = problems(full)
    told = full.ask("ines").view
    with another(full) as other:
        found = rotate_values(full.server, OPERATOR)
        assert (found.name, found.newest, found.retired) == ("values", 2, 1)
        now = row_authentication.derived(full.server.secrets.values)
        assert under(full, before) == set()
        assert under(full, now) == set(TABLES)
        beside = World(other, full.clock, full.streams)
        assert beside.ask("ines").view.values.tolist() == told.values.tolist()
        assert beside.push("third", share=0.01, levels=None).name == "third"
    assert under(full, before) == set()
    assert problems(full) == found_before
    assert full.ask("pia", "third").first


def test_who_has_the_earlier_key_forges_no_row(world: World) -> None:
    earlier = row_authentication.derived(world.server.secrets.values)
    rotate_values(world.server, OPERATOR)
    forge(world, earlier)
    with pytest.raises(IntegrityViolation, match="A row of 'user' was altered"):
        is_admin(world, "pia")


def test_a_rotation_that_lets_the_earlier_key_pass_is_found_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SecretsFile, "settle_rows", lambda file: file.now)
    earlier = row_authentication.derived(world.server.secrets.values)
    rotate_values(world.server, OPERATOR)
    forge(world, earlier)
    assert is_admin(world, "pia")


def test_a_row_that_was_altered_before_stays_refused(full: World) -> None:
    alter(full, "UPDATE clearance SET version = 40 WHERE id = 1")
    rotate_values(full.server, OPERATOR)
    with full.server.database.read() as session:
        assert list(altered_rows.altered(session)) == [("clearance", 1)]


def test_who_reads_meanwhile_sees_rows_that_are_believed(world: World) -> None:
    """With a snapshot of before, and with one that a session of before takes afterwards."""
    with world.server.database.read() as seen, world.server.database.read() as begun:
        assert len(seen.exec(select(User.name)).all()) > 2
        begun.connection()
        rotate_values(world.server, OPERATOR)
        rotate_values(world.server, OPERATOR)
        assert len(seen.exec(select(User)).all()) == len(begun.exec(select(User)).all()) > 2


def test_who_writes_between_two_steps_signs_with_the_new_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that is added behind what was signed already needs no signing again."""
    steps: list[str] = []
    next_rows = row_authentication_upgrade.sign_next
    with another(world) as other:
        beside = World(other, world.clock, world.streams)

        def watched(*given: object) -> int | None:
            found = next_rows(*given)  # type: ignore[arg-type]  # what is given is given on
            steps.append(str(given[3]))
            return found

        act = digest_rotation._sign_anew

        def interleaved(server: Server, earlier: list[bytes], newest: bytes, table: str) -> None:
            act(server, earlier, newest, table)
            beside.push(f"after-{table}".replace("_", "-"), share=0.001, levels=None)

        monkeypatch.setattr(row_authentication_upgrade, "sign_next", watched)
        monkeypatch.setattr(digest_rotation, "_sign_anew", interleaved)
        rotate_values(world.server, OPERATOR)
    assert set(steps) == set(TABLES)
    assert problems(world) == []


def test_the_witness_is_under_the_new_key_alone(world: World) -> None:
    path = world.server.settings.witness_path / FILE
    before = path.read_bytes()
    rotate_values(world.server, OPERATOR)
    assert world.push().name == "visits"
    found = slots.read(path.read_bytes(), sights.keys_of(world.server.secrets))
    assert found.sight.size > 0
    path.write_bytes(before)
    with pytest.raises(LogUnavailable, match="does not authenticate"):
        home.witness(world.server.settings).seen()


def _crash(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "name", "left"),
    [
        (SecretsFile, "renew", [1]),
        (digest_rotation, "_sign_anew", [1, 2]),
        (FileWitness, "renew", [1, 2]),
        (digest_rotation, "record", [1, 2]),
        (SecretsFile, "settle_rows", [1, 2]),
    ],
)
def test_a_rotation_that_was_cut_off_is_gone_on_with(
    full: World, monkeypatch: pytest.MonkeyPatch, where: object, name: str, left: list[int]
) -> None:
    found = problems(full)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, _crash)
        with pytest.raises(KeyboardInterrupt):
            rotate_values(full.server, OPERATOR)
    assert key_numbers(full) == left
    full.push("third", share=0.01, levels=None)
    with another(full) as other:
        secret_rotation.rotate(other, OPERATOR)
    rotate_values(full.server, OPERATOR)
    assert key_numbers(full) == [1, 2]
    assert full.server.secrets.rows == 2
    assert under(full, row_authentication.derived(full.server.secrets.values)) == set(TABLES)
    with another(full) as other:
        assert problems(World(other, full.clock, full.streams)) == found


def test_a_database_from_before_is_signed_anew_by_an_upgrade_and_by_nothing_else(
    visits: World, restore: Restore
) -> None:
    world = World(
        home.open_server(visits.server.settings, clock=visits.clock, randomness=visits.streams),
        visits.clock,
        visits.streams,
    )
    rotate_values(world.server, OPERATOR)
    world.server.database.close()
    with pytest.raises(KeysUnavailable, match=r"under the key 1 of values.*penstock db upgrade"):
        restore()


@pytest.mark.only("sqlite")
def test_what_an_upgrade_signs_anew_was_held_to_the_key_of_before(
    full: World, tmp_path: Path
) -> None:
    settings = full.server.settings
    path = settings.database_path / "penstock.db"
    alter(full, "UPDATE clearance SET version = 40 WHERE id = 1")
    full.server.database.close()
    kept = path.read_bytes()
    with another(full) as server:
        rotate_values(server, OPERATOR)
    for old in path.parent.glob("penstock.db*"):
        old.unlink()
    path.write_bytes(kept)
    with pytest.raises(KeysUnavailable, match="under the key 1 of values"):
        home.open_server(settings)
    home.upgrade(settings)
    home.upgrade(settings)
    with another(full) as server, server.database.read() as session:
        assert list(altered_rows.altered(session)) == [("clearance", 1)]
        assert "values 2" in session.exec(select(SecretCheck.name)).all()


def test_backups_and_leaves_are_held_to_the_key_of_their_day(visits: World, tmp_path: Path) -> None:
    settings = visits.server.settings
    visits.ask("ines")
    made = Path(backup.create(settings, tmp_path / "old").path)
    rotate_values(visits.server, OPERATOR)
    visits.ask("pia", epsilon=0.07)
    later = Path(backup.create(settings, tmp_path / "new").path)
    for path in (made, later):
        found = backup.check(settings, path)
        assert (found.opens, found.problems) == (True, [])
    assert problems(visits) == []
    with visits.server.database.read() as session:
        said = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    about = [one for one in said if one["kind"] == "key"]
    assert [(one["secret"], one["number"]) for one in about] == [("values", 2)]


def test_a_file_is_known_again_under_every_key_of_its_day(world: World, tmp_path: Path) -> None:
    with_stays(world, tmp_path)
    with another(world) as other:
        found = rotate_fingerprint(world.server, OPERATOR)
        assert (found.newest, found.retired) == (2, 1)
        add(world, new_file(tmp_path, 2))
        rotate_fingerprint(world.server, OPERATOR)
        assert World(other, world.clock, world.streams).ask("ines", "by_town").first
        twin = DatasetRequest.model_validate_json(_spec(world))
        for server in (world.server, other):
            for number in (1, 2):
                name = "stays.csv" if number == 1 else "stays-2.csv"
                source = twin.source.model_copy(update={"uri": str(tmp_path / name)})
                wanted = twin.model_copy(update={"name": "twin", "source": source})
                with pytest.raises(Conflict, match=f"'stays', version {number}"):
                    datasets.register(server, OPERATOR, wanted)
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.9}}})
    assert queries.change(world.server, world.person("ada"), "by_town", change).name == "by_town"


def _spec(world: World) -> str:
    with world.server.database.read() as session:
        return session.exec(select(Dataset).where(Dataset.name == "stays")).all()[0].spec


def test_a_shredded_file_is_known_again_whenever_keys_were_rotated(
    world: World, tmp_path: Path
) -> None:
    with_stays(world, tmp_path)
    wanted = DatasetRequest.model_validate_json(_spec(world)).model_copy(update={"name": "twin"})
    rotate_fingerprint(world.server, OPERATOR)
    key_rotation.shred(world.server, OPERATOR, "stays")
    rotate_fingerprint(world.server, OPERATOR)
    with pytest.raises(Conflict, match="registered already"):
        datasets.register(world.server, OPERATOR, wanted)


def test_a_file_that_is_registered_while_the_key_is_rotated_is_registered_once(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fingerprint was made when no newer key was known, under which another may have it."""
    path = tmp_path / "stays.csv"
    examined = datasets._examined

    def slow(*given: object, **more: object) -> object:
        found = examined(*given, **more)  # type: ignore[arg-type]  # what is given is given on
        monkeypatch.setattr(datasets, "_examined", examined)
        rotate_fingerprint(world.server, OPERATOR)
        with_stays(world, tmp_path)
        return found

    path.write_text(ROWS)
    source = {"engine": "duckdb", "uri": str(path)}
    twin = DatasetRequest.model_validate({**STAYS, "name": "twin", "source": source})
    monkeypatch.setattr(datasets, "_examined", slow)
    with pytest.raises(Conflict, match="rotated just now; register the data again"):
        datasets.register(world.server, OPERATOR, twin)
    with pytest.raises(Conflict, match="registered already"):
        datasets.register(world.server, OPERATOR, twin)


def test_exact_values_and_requests_are_known_again(visits: World) -> None:
    server, ada = visits.server, visits.person("ada")
    sent, other = idempotency.fingerprint(server, b"own"), idempotency.fingerprint(server, b"other")
    begun = idempotency.open_request(server, ada, "key", sent)
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.finish(server, begun, 201, b"{}")
    rotate_fingerprint(server, OPERATOR)
    again = idempotency.fingerprint(server, b"own")
    assert again[32:] == sent
    assert isinstance(idempotency.open_request(server, ada, "key", again), idempotency.Replay)
    with pytest.raises(InvalidInput, match="came with another request"):
        idempotency.open_request(server, ada, "key", idempotency.fingerprint(server, b"other"))
    assert not idempotency.is_same(other, again)
    wanted = {"levels": {"internal": {"epsilon": 0.8}}, "values": [120, 7, 1]}
    with pytest.raises(Conflict, match="not those that 'visits' was registered with"):
        queries.change(server, ada, "visits", LevelsChange.model_validate(wanted))
    wanted["values"] = [120, 7, 0]
    changed = queries.change(server, ada, "visits", LevelsChange.model_validate(wanted))
    assert changed.name == "visits"


def test_cursors_of_before_lead_on(world: World) -> None:
    cursors = Cursors(world.server)
    given = cursors.seal("/queries", "41")
    rotate_fingerprint(world.server, OPERATOR)
    assert cursors.open("/queries", given) == "41"
    fresh = cursors.seal("/queries", "41")
    assert fresh != given
    assert Cursors(world.server).open("/queries", fresh) == "41"
    with pytest.raises(InvalidInput):
        cursors.open("/datasets", given)


def test_a_file_without_the_newest_keys_opens_nothing(world: World, tmp_path: Path) -> None:
    path = world.server.settings.keys_path / home.SECRETS
    for act, name in ((rotate_fingerprint, "fingerprint"), (rotate_values, "values")):
        kept = path.read_bytes()
        act(world.server, OPERATOR)
        newest = path.read_bytes()
        path.write_bytes(kept)
        with pytest.raises(KeysUnavailable, match=f"{name} differ"):
            home.open_server(world.server.settings)
        path.write_bytes(newest)
    assert Secrets.load(path).rows == 2


def test_no_analyst_rotates(world: World) -> None:
    for act in (rotate_fingerprint, rotate_values):
        with pytest.raises(Forbidden):
            act(world.server, world.person("ines"))


def test_rows_of_history_change_in_their_signature_alone(full: World) -> None:
    with full.server.database.write() as session:
        session.connection().execute(text("UPDATE clearance SET mac = mac"))
    before = {table: [{**row, "mac": b""} for row in rows_of(full, table)] for table in TABLES}
    rotate_values(full.server, OPERATOR)
    after = {table: [{**row, "mac": b""} for row in rows_of(full, table)] for table in TABLES}
    assert after == before
