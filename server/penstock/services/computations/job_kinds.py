"""List every long computation by its name, for the processes that run them."""

import gc
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from penstock.accounting.reporting.composition import import_late
from penstock.services.computations import wire
from penstock.services.computations.computations import FUNCTIONS


def _job(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def job(document: Any) -> Any:
        arguments, named = wire.read(document)
        return wire.written(function(*arguments, **named))

    return job


JOBS: Mapping[str, Callable[[Any], Any]] = {
    function.__name__: _job(function) for function in FUNCTIONS
}


_REMEMBERING: Final = type(lru_cache(int))


def forget() -> None:
    """Drop the cached results of earlier computations.

    Otherwise a quick answer would reveal that another person requested the same computation.
    """
    for function in gc.get_objects():
        if isinstance(function, _REMEMBERING):
            function.cache_clear()


import_late()
