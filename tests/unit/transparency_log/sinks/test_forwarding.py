"""Test that leaves reach the second place before the witness and before any answer."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.transparency_log.sinks.placing import Placed, leaves_of, lines, taken
from tests.unit.worlds import Restore, World

from penstock.errors import LogUnavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.operations import home
from penstock.services.verification.verification import verify
from penstock.transparency_log.sinks import forwarding, sink
from penstock.transparency_log.witness import FileWitness


def test_leaves_are_taken_before_the_witness_sees_them_and_before_the_answer(
    placed: Placed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, order = tmp_path / "log.jsonl", list[str]()
    world = placed(f"file:{path}")
    take, advance = sink._OpenFile.take, FileWitness.advance

    def took(*asked: Any) -> None:
        take(*asked)
        order.append("taken")

    def advanced(*asked: Any) -> None:
        advance(*asked)
        order.append("witnessed")

    monkeypatch.setattr(sink._OpenFile, "take", took)
    monkeypatch.setattr(FileWitness, "advance", advanced)
    world.ask("pia")
    order.append("answered")
    assert order == ["taken", "witnessed", "answered"]


@pytest.mark.parametrize("stopped", ["before", "between"])
def test_what_a_kill_left_untaken_is_taken_before_the_next_answer(
    visits: World,
    placed: Placed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stopped: str,
) -> None:
    """Stopped after the commit and before the file, or between the file and the witness."""
    path = tmp_path / "log.jsonl"
    world = placed(f"file:{path}")

    def crash(*_: object) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        target = sink._OpenFile if stopped == "before" else FileWitness
        patched.setattr(target, "take" if stopped == "before" else "advance", crash)
        with pytest.raises(SystemError):
            world.ask("pia")
    drawn = visits.streams.taken
    other = placed(f"file:{path}")
    assert other.ask("pia").view.receipt.index is not None
    assert visits.streams.taken == drawn, "what was drawn is not drawn again"
    assert taken(lines(path)) == leaves_of(visits)


def test_a_rewritten_log_is_refused_and_an_acknowledged_restore_is_gone_on_from(
    visits: World, restore: Restore, placed: Placed, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    placed(f"file:{path}").ask("paul")
    before = lines(path)
    back = restore().server
    back.database.close()
    settings = back.settings.model_copy(update={"log_sink": f"file:{path}"})
    server = home.open_server(settings, clock=visits.clock, randomness=visits.streams)
    old = World(server, visits.clock, visits.streams)
    with server.database.read() as session, pytest.raises(LogUnavailable, match="another log"):
        forwarding.forward(session, sink.FileSink(path, PATIENCE), None)
    assert lines(path) == before
    assert restores.acknowledge(server, OPERATOR).witnessed == before[-1]["size"]
    old.push("fresh", share=0.01, levels=None)
    now = lines(path)
    assert now[: len(before)] == before, "what was taken stays"
    first = [json.loads(one["leaf"])["kind"] for one in now[len(before) :] if "leaf" in one]
    assert first[:2] == ["suspension", "restore"]
    assert taken(now)[-1] == leaves_of(old)[-1]
    assert verify(server, OPERATOR).problems == []
    server.database.close()


def test_a_file_that_says_otherwise_than_the_log_is_found_by_verifying(
    placed: Placed, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    world = placed(f"file:{path}")
    world.ask("pia")
    assert verify(world.server, OPERATOR).problems == []
    told = path.read_text(encoding="utf-8")
    path.write_text(told.replace('"actor', '"actress', 1), encoding="utf-8")
    assert any("second place" in one for one in verify(world.server, OPERATOR).problems)
    os.truncate(path, 0)
    assert any("second place" in one for one in verify(world.server, OPERATOR).problems)
