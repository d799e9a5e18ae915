"""Test that keys are kept for a few seconds, and what ends that."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from tests.support.forked import in_child
from tests.support.threads import no_thread_left

from penstock.encryption import Key
from penstock.services.kept_keys import MOST, SECONDS, KeptKeys, _after


@dataclass
class Waiting:
    """Hold a clock that the test sets, and what waits for it."""

    now: float = 100.0
    waiting: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    unwrapped: int = 0

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        self.waiting.append((self.now + seconds, act))

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        due = [act for at, act in self.waiting if at <= self.now]
        self.waiting = [(at, act) for at, act in self.waiting if at > self.now]
        for act in due:
            act()

    def unwrap(self) -> Key:
        self.unwrapped += 1
        return Key(bytes([self.unwrapped]) * 32)


@pytest.fixture
def time() -> Waiting:
    return Waiting()


@pytest.fixture
def keys(time: Waiting) -> KeptKeys:
    return KeptKeys(lambda: time.now, time.after)


def buffer_of(key: Key) -> bytearray:
    with key.exposed() as material:
        return material


def test_a_key_is_unwrapped_once_in_a_few_seconds(time: Waiting, keys: KeptKeys) -> None:
    key = keys.shelf("ring").key("name", time.unwrap)
    time.now += SECONDS - 0.1
    assert keys.shelf("ring").key("name", time.unwrap) is key
    assert keys.shelf("ring").key("another", time.unwrap) is not key
    time.now += 0.1
    assert keys.shelf("ring").key("name", time.unwrap) is not key


def test_a_key_is_overwritten_after_that_without_any_request(time: Waiting, keys: KeptKeys) -> None:
    buffers = [buffer_of(keys.shelf("ring").key(name, time.unwrap)) for name in range(3)]
    time.pass_by(SECONDS - 0.1)
    assert all(map(any, buffers))
    time.pass_by(0.1)
    assert not any(map(any, buffers))
    assert time.waiting == []


def test_without_a_thread_that_would_drop_it_no_key_is_kept(time: Waiting) -> None:
    keys = KeptKeys(lambda: time.now)
    with no_thread_left():
        buffer = buffer_of(keys.shelf("ring").key("name", time.unwrap))
        assert not any(buffer)
        unwrapped = time.unwrapped
    kept = keys.shelf("ring").key("name", time.unwrap)
    assert keys.shelf("ring").key("name", time.unwrap) is kept
    assert time.unwrapped == unwrapped + 1


def test_a_key_that_is_kept_later_is_overwritten_with_the_others(
    time: Waiting, keys: KeptKeys
) -> None:
    keys.shelf("ring").key("first", time.unwrap)
    time.pass_by(SECONDS - 0.1)
    later = buffer_of(keys.shelf("ring").key("later", time.unwrap))
    changed = buffer_of(keys.shelf("another ring").key("later", time.unwrap))
    assert not any(later)
    time.pass_by(0.1)
    assert not any(changed)
    again = buffer_of(keys.shelf("ring").key("first", time.unwrap))
    assert any(again)
    time.pass_by(SECONDS)
    assert not any(again)


def test_a_key_is_not_used_after_the_provider_changed(time: Waiting, keys: KeptKeys) -> None:
    old = buffer_of(keys.shelf("ring").key("name", time.unwrap))
    keys.shelf("another ring").key("name", time.unwrap)
    assert time.unwrapped == 2
    assert not any(old)


def test_forgetting_overwrites_a_key_when_nobody_uses_it(time: Waiting, keys: KeptKeys) -> None:
    used, unused = (keys.shelf("ring").key(name, time.unwrap) for name in ("used", "unused"))
    buffers = buffer_of(used), buffer_of(unused)
    del unused
    keys.forget()
    assert [any(buffer) for buffer in buffers] == [True, False]
    del used
    assert not any(buffers[0])


def test_the_keys_that_are_kept_are_bounded(time: Waiting, keys: KeptKeys) -> None:
    buffers = [buffer_of(keys.shelf("ring").key(name, time.unwrap)) for name in range(100)]
    for name in range(100, MOST + 10):
        keys.shelf("ring").key(name, lambda: Key.fresh())
    assert [any(buffer) for buffer in buffers] == [False] * 10 + [True] * 90


def test_one_thread_waits_however_often_the_provider_changes(time: Waiting, keys: KeptKeys) -> None:
    for version in range(10):
        keys.shelf(version).key("name", time.unwrap)
    assert len(time.waiting) == 1


def test_a_child_has_no_key_of_its_parent(time: Waiting, keys: KeptKeys) -> None:
    buffer = buffer_of(keys.shelf("ring").key("name", time.unwrap))

    def child() -> bool:
        assert not any(buffer)
        kept = buffer_of(keys.shelf("ring").key("name", time.unwrap))
        assert time.unwrapped == 2
        # It waits itself: the thread of its parent is not there.
        assert len(time.waiting) == 2
        time.pass_by(SECONDS)
        return not any(kept)

    assert in_child(child)
    assert any(buffer)


def test_a_thread_acts_later_and_holds_nothing_up() -> None:
    acted = threading.Event()
    _after(0.0, acted.set)
    assert acted.wait(60)
    stopped = threading.Event()
    _after(3600.0, stopped.set)
    (timer,) = (each for each in threading.enumerate() if getattr(each, "interval", 0) == 3600.0)
    assert timer.daemon
    assert isinstance(timer, threading.Timer)
    timer.cancel()
