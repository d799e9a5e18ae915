"""Keep one class for each family of mechanisms in use.

Two mechanisms are equal if their classes are one object.  A cache that drops entries would make a
second class of the same parameters, whose mechanisms are unequal to those of the first; a cache
that keeps all entries would grow with the parameters that callers send.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key", bound=Hashable)
Family = TypeVar("Family", bound=type)


class Families(Generic[Key, Family]):
    """Make one class for each key, and drop it when nothing refers to it any more."""

    def __init__(self, make: Callable[[Key], Family]) -> None:
        self._make = make
        self._made: WeakValueDictionary[Key, Family] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, key: Key) -> Family:
        """Return the class of ``key``: the one in use, or a new one."""
        with self._lock:
            family = self._made.get(key)
            if family is None:
                family = self._made[key] = self._make(key)
        return family
