"""Keep one class for each family in use that mechanisms are built of.

Two mechanisms are equal when their classes are one object.  A cache that drops what was not
asked for lately would make a second class of the same parameters, and mechanisms of it would
be unequal to those of the first; a cache that keeps everything would grow with whatever
parameters are sent.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key", bound=Hashable)
Family = TypeVar("Family", bound=type)


class Families(Generic[Key, Family]):
    """Make one class for each key, and forget it when nothing refers to it any more."""

    def __init__(self, make: Callable[[Key], Family]) -> None:
        self._make = make
        self._made: WeakValueDictionary[Key, Family] = WeakValueDictionary()
        self._lock = Lock()

    def of(self, key: Key) -> Family:
        """Return the class of ``key``: the one in use, or a new one where none is."""
        with self._lock:
            family = self._made.get(key)
            if family is None:
                family = self._made[key] = self._make(key)
        return family
