"""Test ``kill -9`` while keys are put in the place of others, or destroyed.

No file keeps what must go.

And the memory of a server that used a key, after that key was destroyed.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.faults import forgetting, processes
from tests.faults.forgetting import QUERIED, Flaw, no_flaw
from tests.faults.kills.steps import Steps, chosen, landmarks
from tests.faults.stage import opened, settings_of

from penstock.services.access.principals import OPERATOR
from penstock.services.kept_keys import SECONDS
from penstock.services.operations import key_rotation
from penstock.services.operations.home import KEY_RING
from penstock.services.verification import verification

KEYS = ("services/operations/key_rotation.py", "encryption/keyring.py", "encryption/private.py")
STRIDE = 8
PATIENCE = 60 * SECONDS
"""Seconds after which a key that is still there stays there."""

Choose = Callable[[Sequence[str]], Sequence[str]]
Template = Callable[[Path, str, Callable[[Path], None]], Path]

many = pytest.param(partial(chosen, stride=STRIDE), 40, id="many", marks=pytest.mark.nightly)


def decisive(taken: Sequence[str]) -> list[str]:
    """Return the steps between which rows, log and ring differ about what is gone."""
    return [step for step in taken if step.startswith(("before COMMIT", "before replace"))]


@pytest.fixture
def home(tmp_path: Path, template: Template) -> Path:
    return template(tmp_path / "home", "forgetting", forgetting.build)


def killed(home: Path, act: Callable[..., None], steps: Steps, *more: object) -> list[str] | None:
    """Let a process do it, and end at a step; the steps that it took where it did not end there."""
    taken, errors = home.with_name("taken"), home.with_name("errors")
    worker = processes.start(errors, act, home, steps, taken, *more)
    return None if worker.was_killed() else list(json.loads(taken.read_text()))


def kept(home: Path, secrets: Sequence[bytes]) -> list[str]:
    """Return the files of a home in which one of the secrets stands, plain or in base64."""
    spelled = [form for secret in secrets for form in forgetting.spellings(secret)]
    files = [path for path in home.rglob("*") if path.is_file()]
    return [path.name for path in files if any(one in path.read_bytes() for one in spelled)]


def ring(home: Path) -> Path:
    return settings_of(home).keys_path / KEY_RING


@pytest.mark.parametrize(("choose", "least"), [pytest.param(decisive, 2, id="few"), many])
def test_shredding_that_is_killed_at_any_step_leaves_no_key_when_it_was_finished(
    home: Path, choose: Choose, least: int
) -> None:
    steps = killed(home, forgetting.shred_once, Steps(KEYS), QUERIED)
    assert steps is not None
    died = 0
    for number, step in enumerate(choose(steps)):
        name = f"dataset-{number}"
        with opened(home) as server:
            forgetting.register(server, name)
        secrets = forgetting.ring_keys(ring(home), name)
        assert kept(home, secrets) == [KEY_RING]
        died += killed(home, forgetting.shred_once, Steps(KEYS, step), name) is None
        with opened(home) as server:
            key_rotation.shred(server, OPERATOR, name)
        assert kept(home, secrets) == []
    assert died >= least
    with opened(home) as server:
        assert verification.verify(server, OPERATOR).problems == []


@pytest.mark.parametrize(
    ("choose", "least"),
    [pytest.param(partial(landmarks, within=("private.py",)), 12, id="few"), many],
)
def test_a_rotation_that_is_killed_at_any_step_leaves_nothing_that_is_shredded_later(
    home: Path, choose: Choose, least: int
) -> None:
    """A file that was not put in its place has all keys, those of other datasets too."""
    steps = killed(home, forgetting.renew_once, Steps(KEYS), QUERIED)
    assert steps is not None
    died = 0
    for number, step in enumerate(choose(steps)):
        name = f"dataset-{number}"
        forgetting.renew(ring(home), name)
        before = forgetting.ring_keys(ring(home), name)
        died += killed(home, forgetting.renew_once, Steps(KEYS, step), name) is None
        secrets = [*before, *forgetting.ring_keys(ring(home), name)]
        # Another process goes on as it was; none is started again first.
        forgetting.destroy(ring(home), name)
        assert kept(home, secrets) == []
    assert died >= least


def test_a_writer_whose_leftovers_stay_is_found_out(home: Path) -> None:
    secrets = forgetting.ring_keys(ring(home), QUERIED)
    at = Steps(named="before replace")
    assert killed(home, forgetting.renew_once, at, "another") is None
    left = [name for name in kept(home, secrets) if name != KEY_RING]
    assert [name.rpartition(".")[2] for name in left] == ["new"]


@pytest.mark.parametrize("by_itself", [False, True], ids=["another's", "its own"])
def test_a_key_that_was_destroyed_is_in_no_memory_of_a_server_that_used_it(
    home: Path, by_itself: bool
) -> None:
    # Its own command clears its memory; what another does, it need not be told.
    found = searched(home, no_flaw, patience=0.0 if by_itself else PATIENCE, by_itself=by_itself)
    assert found == dict.fromkeys(found, 0)


@pytest.mark.parametrize(
    ("flaw", "names"),
    [
        (forgetting.hoarding, ("wrapping", "dataset", "query")),
        (forgetting.never_over, ("dataset", "query")),
    ],
    ids=["every key", "kept keys"],
)
def test_a_server_that_keeps_keys_for_later_is_found_out(
    home: Path, flaw: Flaw, names: Sequence[str]
) -> None:
    found = searched(home, flaw, patience=2 * SECONDS)
    assert all(found[name] for name in names)


def searched(home: Path, flaw: Flaw, *, patience: float, by_itself: bool = False) -> dict[str, int]:
    """Return how often each destroyed key is in the memory of a process that goes on serving.

    It is searched until none is there, or ``patience`` seconds are over.
    """
    told, errors, go = (home.with_name(name) for name in ("told", "errors", "go"))
    name = QUERIED
    with opened(home) as server:
        secrets = forgetting.secrets_of(server, ring(home), name)
        worker = processes.start(errors, forgetting.serve, home, name, by_itself, flaw, told, go)
        worker.wait_for_lines(told, 1)
        if not by_itself:
            key_rotation.shred(server, OPERATOR, name)
        go.touch()
        worker.wait_for_lines(told, 2)
        pid = worker.process.pid
        assert pid is not None
        until = time.monotonic() + patience
        while any((found := forgetting.in_memory(pid, secrets)).values()):
            if time.monotonic() >= until:
                break
            time.sleep(0.1)
        worker.kill()
    assert not forgetting.ring_keys(ring(home), name)
    return found
