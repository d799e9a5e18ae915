"""Test cosignatures of checkpoints.

Of whom the operator named, over what the log has, and no others.
"""

from dataclasses import replace

import pytest
from sqlalchemy import text
from tests.unit.services.audit.cosigning import ONE, STRANGER, TWO
from tests.unit.worlds import Restore, World

from penstock.encryption import notes
from penstock.errors import Forbidden, InvalidInput, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import cosigners, proofs
from penstock.transparency_log.views import CheckpointView


@pytest.fixture
def world(visits: World) -> World:
    """Return a log with two cosigners."""
    named = f"{ONE.verifier.text}, {TWO.verifier.text}"
    visits.server = replace(
        visits.server, settings=visits.server.settings.model_copy(update={"cosigners": named})
    )
    return visits


def newest(world: World) -> CheckpointView:
    return proofs.checkpoint(world.server)


def now(world: World) -> int:
    return int(world.clock().timestamp())


def test_cosignatures_are_stored_once_and_served(world: World) -> None:
    before = newest(world)
    taken = cosigners.take(world.server, world.person("otto"), ONE.signed(before.note, now(world)))
    assert [one.cosigner for one in taken.cosignatures] == [ONE.verifier.name]
    assert newest(world) == taken, "it appends no leaf, so that the checkpoint stays"
    later = cosigners.take(
        world.server, OPERATOR, TWO.signed(ONE.signed(before.note, now(world) - 9), now(world))
    )
    assert later.cosignatures[0] == taken.cosignatures[0], "what was there stays"
    read = notes.Note.read(later.cosigned_note)
    for one in (ONE.verifier, TWO.verifier):
        assert one.verified(read.text, read.signatures[one.name, one.id])
    assert len(read.signatures) == 3
    assert later.note == before.note


def test_the_newest_that_enough_cosigned_is_found(world: World) -> None:
    old = newest(world)
    cosigners.take(world.server, OPERATOR, TWO.signed(ONE.signed(old.note, 5), 5))
    world.ask("pia")
    new = newest(world)
    assert new.size > old.size
    assert new.cosignatures == []
    cosigners.take(world.server, OPERATOR, ONE.signed(new.note, now(world)))
    assert cosigners.checkpoint(world.server, 1).size == new.size
    assert cosigners.checkpoint(world.server, 2).size == old.size
    with pytest.raises(NotFound, match="3 cosignatures"):
        cosigners.checkpoint(world.server, 3)
    alone = replace(
        world.server, settings=world.server.settings.model_copy(update={"cosigners": ""})
    )
    with pytest.raises(NotFound):
        cosigners.checkpoint(alone, 1)
    assert newest(world).cosignatures
    assert proofs.checkpoint(alone).cosignatures == [], "whom nobody names is not shown"


def test_what_is_unknown_or_invalid_is_refused_and_not_stored(world: World) -> None:
    note, at = newest(world).note, now(world)
    other = note.replace(f"\n{newest(world).size}\n", "\n999\n", 1)
    for wrong, words in (
        ("no note", "cannot be read"),
        (note, "No cosigner whom this log knows"),
        (STRANGER.signed(note, at), "No cosigner whom this log knows"),
        (ONE.signed(note, at, of="something else\n"), "does not verify"),
        (TWO.signed(ONE.signed(note, at), at, of="else\n"), "does not verify"),
        (ONE.signed(note, at + 3600), "in the future"),
        (ONE.signed(other, at), "not a checkpoint of this log"),
        (ONE.signed("a\nb\n\n\u2014 x AAAAAAAA\n", at), "not a checkpoint of this log"),
    ):
        with pytest.raises(InvalidInput, match=words):
            cosigners.take(world.server, OPERATOR, wrong)
        assert newest(world).cosignatures == []
    with pytest.raises(Forbidden):
        cosigners.take(world.server, world.person("pia"), ONE.signed(note, at))


def test_a_row_that_nobody_signed_is_not_served(world: World) -> None:
    """Whoever can write to the database adds no cosigner's word."""
    with world.server.database.write() as session:
        session.connection().execute(
            text(
                "INSERT INTO cosignature (checkpoint_id, name, public, signed_at, signature)"
                " SELECT max(id), 'x', :public, 7, :signature FROM checkpoint"
            ),
            {"public": ONE.verifier.public, "signature": bytes(64)},
        )
    assert newest(world).cosignatures == []


def test_a_cosigned_checkpoint_of_a_lost_log_is_not_taken(world: World, restore: Restore) -> None:
    world.ask("pia")
    lost = newest(world)
    old = restore()
    server = replace(old.server, settings=world.server.settings)
    with pytest.raises(InvalidInput, match="restored or forked"):
        cosigners.take(server, OPERATOR, ONE.signed(lost.note, now(world)))


@pytest.mark.parametrize(
    "named",
    ["cosigner.example/1", ONE.verifier.text[:-3], f"{ONE.verifier.text} {ONE.verifier.text}"],
)
def test_settings_that_name_no_cosigner_are_refused(world: World, named: str) -> None:
    with pytest.raises(InvalidInput, match="cosigners"):
        cosigners.configured(world.server.settings.model_copy(update={"cosigners": named}))
