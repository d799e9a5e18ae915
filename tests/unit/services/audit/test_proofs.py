"""Test that every leaf and all growth of the log is proven; what it does not have is not."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.persistence.tables import Checkpoint
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proofs
from penstock.transparency_log import checkpoints, merkle
from penstock.transparency_log.views import CheckpointView


def verify(view: CheckpointView) -> None:
    """Raise unless the note is signed and says what the view says."""
    text, _, signature = view.note.partition("\n\n")
    public = bytes.fromhex(view.key)
    Ed25519PublicKey.from_public_bytes(public).verify(
        bytes.fromhex(view.signature), (text + "\n").encode()
    )
    name, size, root, _ = text.splitlines()
    assert (name, int(size)) == (checkpoints.origin(public), view.size)
    assert base64.b64decode(root).hex() == view.root_hash
    signed = base64.b64decode(signature.split()[2])
    assert signed == checkpoints.key_name(public) + bytes.fromhex(view.signature)


def test_every_checkpoint_is_consistent_with_every_later_one(visits: World) -> None:
    visits.ask("pia")
    with visits.server.database.read() as session:
        rows = session.exec(select(Checkpoint).order_by(col(Checkpoint.size))).all()
        views = [checkpoints.view(session, row) for row in rows]
        assert all(checkpoints.signed(session, row) for row in rows)
    assert len(views) > 5
    for old in views:
        verify(old)
        for new in views[views.index(old) :]:
            found = proofs.consistency(visits.server, old.size, new.size)
            assert merkle.consistent(
                old.size,
                new.size,
                bytes.fromhex(old.root_hash),
                bytes.fromhex(new.root_hash),
                [bytes.fromhex(one) for one in found["hashes"]],
            )


def test_an_export_holds_what_was_hashed(visits: World) -> None:
    visits.ask("pia")
    exported = list(proofs.export(visits.server, OPERATOR))
    assert [one.index for one in exported] == list(range(len(exported)))
    frontier = merkle.Frontier()
    for one in exported:
        frontier.add(merkle.leaf_hash(base64.b64decode(one.leaf)))
    newest = proofs.checkpoint(visits.server)
    assert (frontier.size, frontier.root.hex()) == (newest.size, newest.root_hash)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (3, 3), (-1, 3), (0, 10**6), (10**6, None)])
def test_what_the_log_does_not_have_is_not_proven(
    visits: World, index: int, size: int | None
) -> None:
    with pytest.raises(InvalidInput):
        proofs.inclusion(visits.server, OPERATOR, index, size)
    with pytest.raises(InvalidInput):
        proofs.consistency(visits.server, size or 0, 0)
