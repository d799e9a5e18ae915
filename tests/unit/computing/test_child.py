"""Test the loop of a child: it answers one request after another, and forgets between persons."""

import io
import threading
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.computing import bounds, child, frames
from penstock.errors import InvalidInput


class Doubling:
    """Stand for a module that doubles numbers and remembers them."""

    def __init__(self) -> None:
        self.remembered: list[int] = []
        self.JOBS: Mapping[str, Callable[[Any], Any]] = {
            "double": self.double,
            "refuse": self.refuse,
            "exhaust": self.exhaust,
        }

    def double(self, number: int) -> list[int]:
        self.remembered.append(2 * number)
        return list(self.remembered)

    def refuse(self, _: Any) -> None:
        raise InvalidInput("No.", pointer="/here")

    def exhaust(self, _: Any) -> None:
        raise MemoryError

    def forget(self) -> None:
        self.remembered.clear()


class Ended(BaseException):
    """Stand for the end of the process, which would be the test's own."""


class Requests:
    """Queue requests; ``None`` stands for a pipe that ended."""

    def __init__(self) -> None:
        self._requests: list[Any] = []
        self._changed = threading.Condition()

    def put(self, request: Any) -> None:
        with self._changed:
            self._requests.append(request)
            self._changed.notify()

    def get(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._requests)
            request = self._requests.pop(0)
        if request is None:
            raise Ended
        return request


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Provide ``served(*requests)``: what a child answers to these, up to where it ends."""
    monkeypatch.setattr(bounds, "allow", lambda _: None)
    requests_left, read_to_the_end = Requests(), threading.Event()

    def end(_: int) -> None:
        if threading.current_thread() is threading.main_thread():
            raise Ended
        requests_left.put(None)
        read_to_the_end.set()

    monkeypatch.setattr(child, "os", SimpleNamespace(_exit=end))
    monkeypatch.setattr(child, "queue", SimpleNamespace(SimpleQueue=lambda: requests_left))

    def serve(*requests: tuple[str, Any, bool]) -> list[Any]:
        frame = b"".join(
            frames.written({"job": job, "document": document, "fresh": fresh})
            for job, document, fresh in requests
        )
        target = io.BytesIO()
        with pytest.raises(Ended):
            child.serve(Doubling(), 1.0, io.BytesIO(frame), target)
        # Later it would end the test's own process.
        assert read_to_the_end.wait(60)
        target.seek(0)
        answers = []
        while (answer := frames.read(target)) is not None:
            answers.append(answer)
        return answers

    return serve


def test_it_says_that_it_is_ready_and_answers_in_turn(
    served: Callable[..., list[Any]],
) -> None:
    ready, first, second = served(("double", 2, True), ("double", 5, False))
    assert ready == child.READY
    assert (first["answer"], second["answer"]) == ([4], [4, 10])
    assert first["seconds"] >= 0


def test_it_forgets_before_a_wish_of_another_person(served: Callable[..., list[Any]]) -> None:
    _, _, second = served(("double", 2, True), ("double", 5, True))
    assert second["answer"] == [10]


def test_a_refusal_is_described_and_the_next_wish_is_answered(
    served: Callable[..., list[Any]],
) -> None:
    _, refused, after = served(("refuse", None, True), ("double", 1, False))
    assert "answer" not in refused
    assert "No." in str(refused["problem"])
    assert after["answer"] == [2]


def test_it_ends_when_memory_ran_out(served: Callable[..., list[Any]]) -> None:
    answers = served(("exhaust", None, True), ("double", 1, False))
    assert len(answers) == 2
    assert answers[1]["memory"] is True
