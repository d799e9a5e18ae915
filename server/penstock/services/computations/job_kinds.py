"""What a process that computes for others knows: every long computation, by its name."""

import gc
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from penstock.accounting import import_late
from penstock.services.computations import wire
from penstock.services.computations.computations import FUNCTIONS


def _job(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def job(document: Any) -> Any:
        asked, named = wire.read(document)
        return wire.written(function(*asked, **named))

    return job


JOBS: Mapping[str, Callable[[Any], Any]] = {one.__name__: _job(one) for one in FUNCTIONS}


_REMEMBERING: Final = type(lru_cache(int))


def forget() -> None:
    """Drop what is remembered of computations before.

    Else an answer that comes soon would tell that somebody asked the same.
    """
    for one in gc.get_objects():
        if isinstance(one, _REMEMBERING):
            one.cache_clear()


import_late()
