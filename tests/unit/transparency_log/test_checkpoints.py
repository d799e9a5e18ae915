"""Test that whoever was answered has a leaf that a signed checkpoint covers."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.persistence.tables import Checkpoint, Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proofs
from penstock.transparency_log import checkpoints, merkle
from penstock.transparency_log.leaves import receipt_of
from penstock.transparency_log.views import CheckpointView, ReceiptView


def leaves(world: World) -> list[Leaf]:
    with world.server.database.read() as session:
        return list(session.exec(select(Leaf).order_by(col(Leaf.index).nulls_last())).all())


def sizes(world: World) -> list[int]:
    with world.server.database.read() as session:
        return list(session.exec(select(Checkpoint.size).order_by(col(Checkpoint.size))).all())


def proven(world: World, receipt: ReceiptView) -> bool:
    assert receipt.index is not None
    newest = proofs.checkpoint(world.server)
    found = proofs.inclusion(world.server, OPERATOR, receipt.index)
    return found.leaf_hash == receipt.leaf_hash and merkle.included(
        bytes.fromhex(receipt.leaf_hash),
        receipt.index,
        newest.size,
        [bytes.fromhex(one) for one in found.hashes],
        bytes.fromhex(newest.root_hash),
    )


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


def test_every_answer_is_covered_by_a_checkpoint_that_is_signed(visits: World) -> None:
    for name in ("pia", "paul", "ines"):
        receipt = visits.ask(name).view.receipt
        assert proven(visits, receipt)
        assert visits.ask(name).view.receipt == receipt, "a repeat has the same receipt"
        assert receipt.checkpoint is not None
        assert int(receipt.checkpoint.splitlines()[1]) > (receipt.index or 0)
    verify(proofs.checkpoint(visits.server))
    stored = leaves(visits)
    assert [leaf.index for leaf in stored] == list(range(sizes(visits)[-1]))
    assert all(proven(visits, receipt_of(leaf)) for leaf in stored)
