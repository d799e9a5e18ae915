"""Test what becomes of a process that draws rows, and what its reader is told."""

from typing import Any

import pytest

from penstock.computing.process import Died, Overtime
from penstock.errors import Busy, InvalidInput, PenstockError, Unavailable, described
from penstock.services.synthetic_rows import apart

REPLIES: list[tuple[Any, type[PenstockError], str]] = [
    (Overtime(), InvalidInput, "more than 120 processor seconds"),
    (Died(), Unavailable, "ended before it was done"),
    (OSError("no more processes"), Unavailable, "ended before it was done"),
    ({"memory": True}, InvalidInput, "more memory"),
    ({"problem": described(InvalidInput("It did not converge."))}, InvalidInput, "not converge"),
]


class Scripted:
    """Answer as it is told to, in place of a process; count those that are not ended."""

    reply: Any = None
    running = 0

    def __init__(self, *_: object) -> None:
        type(self).running += 1

    def ask(self, *_: object) -> Any:
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    def kill(self) -> None:
        type(self).running -= 1


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    monkeypatch.setattr(apart, "Child", Scripted)
    monkeypatch.setattr(Scripted, "running", 0)
    return Scripted


@pytest.mark.parametrize(("reply", "error", "text"), REPLIES)
def test_every_end_is_explained_and_leaves_no_process(
    scripted: type[Scripted],
    monkeypatch: pytest.MonkeyPatch,
    reply: Any,
    error: type[PenstockError],
    text: str,
) -> None:
    monkeypatch.setattr(scripted, "reply", reply)
    with pytest.raises(error, match=text):
        apart.drawn({})
    assert scripted.running == 0
    monkeypatch.setattr(scripted, "reply", {"answer": {"codes": {}}})
    assert apart.drawn({}) == {"codes": {}}
    assert scripted.running == 0


def test_one_answer_is_drawn_at_a_time(scripted: type[Scripted]) -> None:
    with apart._turn, pytest.raises(Busy):
        apart.drawn({})
    assert scripted.running == 0


def test_without_the_library_the_answer_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(Unavailable, match=r"penstock\[synthetic\]"):
        apart.drawn({})
