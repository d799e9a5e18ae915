"""Test what the log rests on now, and proofs held to the checkpoints that were signed."""

from dataclasses import replace

import pytest
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proof_status, proofs
from penstock.transparency_log import checkpoints
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.views import InclusionView


def test_a_sound_log_says_how_long_it_is_and_what_the_witness_saw(visits: World) -> None:
    visits.ask("pia")
    log = proof_status.status(visits.server, OPERATOR)
    assert log.sound
    assert log.brief
    assert log.checkpoint is not None
    assert log.witness is not None
    assert log.leaves == log.checkpoint.size == log.witness.size
    assert log.witness.root_hash == log.checkpoint.root_hash
    assert log.hand_outs == 1


def test_a_witness_that_saw_more_is_told_and_nothing_is_hidden(visits: World) -> None:
    visits.server.sequencer.witness.start_over(Sight(9999, b"\x01" * 32))
    log = proof_status.status(visits.server, OPERATOR)
    assert not log.sound
    assert log.suspended is not None
    assert log.witness == proof_status.WitnessView(9999, "01" * 32)


def test_proofs_hold_against_signed_checkpoints(visits: World) -> None:
    size = proofs.checkpoint(visits.server).size
    inclusion = proof_status.inclusion(visits.server, OPERATOR, 0)
    consistency = proof_status.consistency(visits.server, 1, size)
    assert inclusion.holds is True
    assert [checkpoint.size for checkpoint in inclusion.checkpoints] == [size]
    assert consistency.holds in {True, None}


def test_a_proof_of_another_leaf_does_not_hold(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = proofs.inclusion

    def altered(*arguments: object) -> InclusionView:
        proof = honest(*arguments)  # type: ignore[arg-type]  # as it was called
        return replace(proof, leaf_hash="00" * 32)

    monkeypatch.setattr(proofs, "inclusion", altered)
    assert proof_status.inclusion(visits.server, OPERATOR, 0).holds is False


def test_where_no_checkpoint_was_signed_there_is_nothing_to_hold_to(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "at_size", lambda *_: None)
    assert proof_status.inclusion(visits.server, OPERATOR, 0).holds is None
    assert proof_status.consistency(visits.server, 1, 2).holds is None


def test_a_long_log_is_left_to_the_command_line(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaves = proof_status.status(visits.server, OPERATOR).leaves
    monkeypatch.setattr(proof_status, "MOST_AT_ONCE", leaves)
    proof_status.require_brief(visits.server, OPERATOR)
    monkeypatch.setattr(proof_status, "MOST_AT_ONCE", leaves - 1)
    with pytest.raises(Conflict, match=f"has {leaves} leaves, and up to {leaves - 1} are"):
        proof_status.require_brief(visits.server, OPERATOR)


def test_only_auditors_see_the_state_of_the_log(visits: World) -> None:
    for act in (proof_status.status, proof_status.require_brief):
        with pytest.raises(Forbidden):
            act(visits.server, visits.person("pia"))
