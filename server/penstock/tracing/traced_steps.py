"""Open spans around the steps of a request: reads, the lock, draws, the commit, the witness.

The database and the log of a server are wrapped, so that the code of releases and other use cases
contains nothing of it.  Statements and their parameters are in no span.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast

from penstock.persistence.database import Database
from penstock.persistence.protocol import Watch
from penstock.services.context import Server
from penstock.tracing.spans import Tracing
from penstock.transparency_log.sequencer import Sequencer

LOOK_UP, WAIT, WORK, COMMIT = "look up", "wait for the lock", "work under the lock", "commit"
WITNESS = "witness"
DRAW = "draw"
"""The span of a draw of noise, of one level or of all that are drawn at once."""

_READING = ("glance", "glances")
_WRITING = ("write", "write_beside", "write_unwatched", "write_own_rows")
_WITNESSING = ("cover", "cover_tree", "settle")

P = ParamSpec("P")
R = TypeVar("R")


class _Around:
    """Hold an object of which some methods are replaced, and everything else is its own."""

    def __init__(self, inner: object, methods: dict[str, Callable[..., Any]]) -> None:
        self.__dict__.update(methods)
        self.__dict__["_inner"] = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_inner"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_inner"], name, value)


def traced(server: Server, tracing: Tracing) -> Server:
    """Return the server with a database, a log and draws that open spans.

    The database's own watch is replaced: a transaction waits for the witness after its commit.
    """
    database, log = server.database, server.sequencer
    steps: dict[str, Callable[..., Any]] = {
        **{name: _within(tracing, LOOK_UP, getattr(database, name)) for name in _READING},
        **{name: _writing(tracing, getattr(database, name)) for name in _WRITING},
        "read": _reading(tracing, database.read),
    }
    if database.watch is not None:
        committed = _within(tracing, WITNESS, database.watch.committed)
        database.watch = cast("Watch", _Around(database.watch, {"committed": committed}))
    waits = {name: _within(tracing, WITNESS, getattr(log, name)) for name in _WITNESSING}
    return replace(
        server,
        database=cast("Database", _Around(database, steps)),
        sequencer=cast("Sequencer", _Around(log, waits)),
        drawing=partial(tracing.step, DRAW),
    )


def _within(tracing: Tracing, name: str, act: Callable[P, R]) -> Callable[P, R]:
    @wraps(act)
    def step(*arguments: P.args, **named: P.kwargs) -> R:
        with tracing.step(name):
            return act(*arguments, **named)

    return step


def _reading(
    tracing: Tracing, act: Callable[P, AbstractContextManager[R]]
) -> Callable[P, AbstractContextManager[R]]:
    @contextmanager
    def step(*arguments: P.args, **named: P.kwargs) -> Iterator[R]:
        with tracing.step(LOOK_UP), act(*arguments, **named) as session:
            yield session

    return step


def _writing(
    tracing: Tracing, act: Callable[P, AbstractContextManager[R]]
) -> Callable[P, AbstractContextManager[R]]:
    """Return a transaction in three spans; one that its block ends by an error has no commit."""

    @contextmanager
    def step(*arguments: P.args, **named: P.kwargs) -> Iterator[R]:
        with ExitStack() as stack:
            with tracing.step(WAIT):
                session = stack.enter_context(act(*arguments, **named))
            with tracing.step(WORK):
                yield session
            with tracing.step(COMMIT):
                stack.close()

    return step
