"""Test that a leaf's hash tells nothing about the leaf, even to those who know most of it."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlmodel import Session, col, select
from tests.unit.services.requests.requesting import ask
from tests.unit.services.schedules.planning import spec_of, with_stays
from tests.unit.services.sign_on.trusted import mapped, trusting
from tests.unit.worlds import CopyWorld, World, fill

from penstock.errors import NotFound
from penstock.persistence.tables import Leaf
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.audit import clocks, proofs, refusals, restores
from penstock.services.datasets import allowances
from penstock.services.operations import home, key_rotation
from penstock.services.people import tokens, users
from penstock.services.schedules import schedules
from penstock.services.schemas.datasets import AllowanceSpec, DatasetChange
from penstock.services.schemas.people.invitations import InvitationSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.sign_on import invitations
from penstock.services.streams import stream_elements, stream_totals, streams
from penstock.services.uploads import uploads
from penstock.services.verification.verification import verify
from penstock.transparency_log import leaves

AROUND = 4
"""Microseconds on both sides of the time of a checkpoint, which an attacker tries."""

NAMES = ("public", "partner", "internal", "pia", "paul", "ines", "visits", "hits", "sites")
"""Names that an attacker tries for whatever one of them stands in a leaf for."""

STREAM = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 50,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.01}},
}


def every_kind(world: World) -> None:
    """Do what makes a leaf of each kind there is."""
    server = world.server
    fill(world)
    world.push(max_levels=32, title="Visits")
    world.ask("pia")
    users.change(server, OPERATOR, "pia", UserChange(clearance="partner"))
    raised = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": 5.0}}})
    budgets.change(server, OPERATOR, "sites", raised)
    tokens.issue(server, OPERATOR, "pia", TokenSpec())
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(STREAM))
    sent = ElementsRequest.model_validate({"from": 1, "values": [3]})
    stream_elements.push(server, OPERATOR, "hits", sent)
    stream_totals.read(server, world.person("pia"), "hits")
    with_stays(world, server.settings.home.parent)
    schedules.create(server, world.person("ada"), spec_of(server.settings.home.parent))
    ask(world)
    allowances.give(server, OPERATOR, "stays", "internal", AllowanceSpec(epsilon=0.5))
    mapped(trusting(world.server), "staff", "analyst", tier="public")
    invited = InvitationSpec.model_validate({"name": "lea", "roles": ["analyst"]})
    invitations.invite(server, OPERATOR, invited)
    uploads.receive(server, OPERATOR, "towns.csv", [b"person,town\np1,north\n"])
    key_rotation.rotate(server, OPERATOR)
    ruled = replace(server, settings=server.settings.model_copy(update={"two_person_rule": True}))
    proposals.do_or_propose(ruled, world.person("ada"), QueryRetirement(query="visits"))
    world.clock.now -= timedelta(hours=1)
    clocks.acknowledge(server, OPERATOR)
    refusals.record(server, {"not_found": 1}, 60.0)
    witness = server.sequencer.witness
    witness.suspend(witness.seen(), leaves.timestamp(world.clock.now))
    users.change(server, OPERATOR, "paul", UserChange(clearance="internal"))
    (server.settings.witness_path / "log.json").unlink()
    restores.acknowledge(server, OPERATOR)


def log_leaves(world: World) -> list[tuple[str, bytes, bytes]]:
    """Return kind, content and hash of each leaf."""
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf).order_by(col(Leaf.id))).all()
    return [(row.kind, row.bytes, row.hash) for row in rows]


def tried(known: dict[str, Any], nonces: list[str]) -> Iterator[bytes]:
    """Yield what an attacker tries who knows all of a leaf but its nonce, the time and one name.

    They know the time to some microseconds, from the checkpoint behind it, and those nonces.
    """
    fields = {name: value for name, value in known.items() if name != "nonce"}
    at = datetime.fromisoformat(fields["at"])
    unknown = next((n for n in ("tier", "user", "query", "dataset") if fields.get(n) in NAMES), "")
    for name in NAMES if unknown else ("",):
        for offset in range(-AROUND, AROUND + 1):
            guess = {**fields, "at": leaves.timestamp(at + timedelta(microseconds=offset))}
            if unknown:
                guess[unknown] = name
            yield leaves.canonical(guess)
            for nonce in nonces:
                yield leaves.canonical({**guess, "nonce": nonce})


def found(world: World) -> set[str]:
    """Return the kinds of which an attacker finds every leaf from its hash."""
    missed = set()
    all_leaves = log_leaves(world)
    mine = [json.loads(one) for kind, one, _ in all_leaves if kind in ("release", "stream")]
    own = [said["nonce"] for said in mine if "nonce" in said]
    nonces = sorted({*own, "00" * 16, hashlib.sha256(b"").hexdigest()[:32]})
    for kind, content, digest in all_leaves:
        known = json.loads(content)
        others = [one for one in nonces if kind not in ("release", "stream")]
        if not any(leaves.leaf_hash(guess) == digest for guess in tried(known, others)):
            missed.add(kind)
    return set(leaves.KINDS) - missed


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the nonce out, as version 1 did."""
    canonical = leaves.canonical
    monkeypatch.setattr(
        leaves,
        "canonical",
        lambda fields: canonical({n: v for n, v in fields.items() if n != "nonce"}),
    )


def opened_with(world: World, nonces: Callable[[int], bytes]) -> World:
    """Return the same home with another generator."""
    world.server.database.close()
    server = home.open_server(
        world.server.settings, clock=world.clock, randomness=world.streams, nonces=nonces
    )
    return World(server, world.clock, world.streams)


def test_no_kind_of_leaf_is_found_from_its_hash(copy_world: CopyWorld) -> None:
    world = copy_world("every-kind", every_kind)
    told = log_leaves(world)
    assert {kind for kind, _, _ in told} == set(leaves.KINDS)
    assert found(world) == set()
    nonces = [json.loads(content)["nonce"] for _, content, _ in told]
    assert len(set(nonces)) == len(nonces)
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in nonces)
    assert verify(world.server, OPERATOR).problems == []


def test_without_nonces_every_kind_of_leaf_is_found(
    empty: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken variant: the same attacker reads the log from its hashes."""
    without(monkeypatch)
    every_kind(empty)
    assert found(empty) == set(leaves.KINDS)


def test_a_nonce_that_is_always_the_same_hides_nothing(empty: World) -> None:
    """The broken variant: readers see it in their own receipts."""
    world = opened_with(empty, lambda size: b"\x07" * size)
    every_kind(world)
    assert found(world) == set(leaves.KINDS) - {"release", "stream"}
    world.server.database.close()


def test_nonces_come_from_the_operating_system(visits: World) -> None:
    defaults = home.open_server.__kwdefaults__ or {}
    assert defaults["nonces"] is os.urandom
    with pytest.raises(KeyError), visits.server.database.write() as session:
        bare(session)


def test_leaves_that_are_appended_together_keep_their_order(visits: World) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    before = len(log_leaves(visits))
    names = ["c", "a", "b"]
    with visits.server.database.write() as session:
        made = [leaves.made(session, kind="tier", at=at, actor="x", tier=name) for name in names]
        leaves.append_all(session, made)
    assert [leaf.index for leaf in made] == list(range(before, before + 3))
    fields = [json.loads(content) for _, content, _ in log_leaves(visits)[before:]]
    assert [leaf["tier"] for leaf in fields] == names
    assert len({leaf["nonce"] for leaf in fields}) == 3


def bare(session: Session) -> None:
    """Append a leaf in a session that draws no nonces."""
    session.info.pop(leaves.NONCES)
    leaves.append(session, kind="tier", at=datetime(2026, 1, 1), actor="x")  # noqa: DTZ001


@pytest.mark.parametrize(
    "change",
    [{"nonce": None}, {"nonce": "ab"}, {"nonce": "G" * 32}, {"v": 1}, {"v": 3}],
    ids=str,
)
def test_a_leaf_without_what_its_version_asks_for_is_a_problem(change: dict[str, Any]) -> None:
    good = {"v": 2, "nonce": "0f" * 16}
    assert leaves.well_versed(good)
    assert leaves.well_versed({"v": 1})
    assert not leaves.well_versed({**good, **change})


def test_readers_have_their_own_receipts_proven_and_nothing_else(visits: World) -> None:
    mine, other = visits.ask("pia").view.receipt, visits.ask("paul").view.receipt
    pia, otto = visits.person("pia"), visits.person("otto")
    assert mine.index is not None
    assert other.index is not None

    def may(principal: Principal, index: int, size: int | None = None) -> bool:
        try:
            proofs.inclusion(visits.server, principal, index, size)
        except NotFound:
            return False
        return True

    size = proofs.checkpoint(visits.server).size
    assert [index for index in range(size + 5) if may(pia, index)] == [mine.index]
    assert [index for index in range(size) if may(visits.person("ada"), index)] == []
    assert [index for index in range(size) if may(otto, index)] == list(range(size))
    assert not may(pia, mine.index, mine.index)
    assert may(pia, mine.index, mine.index + 1)
