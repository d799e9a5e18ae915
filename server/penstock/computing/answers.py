"""Keep earlier answers, separately for each person.

Nobody is answered sooner because another person asked the same: the time that an answer takes
would reveal it.  A person who asks a lot evicts all answers of other persons, of the one who asked
longest ago first; that reveals that somebody is working, but not on what.
"""

import hashlib
import json
import threading
from collections import OrderedDict
from typing import Final

from penstock.computing.frames import Document

PERSONS: Final = 64
EACH: Final = 32
"""Answers kept for one person."""

LARGEST: Final = 64 * 1024
"""The largest answer kept, in bytes: 128 MiB in all if every answer is that large."""

Person = OrderedDict[bytes, bytes]


class Answers:
    """Hold the newest answers by person and question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: OrderedDict[str, Person] = OrderedDict()

    def find(self, person: str, job: str, document: Document) -> Document | None:
        """Return the earlier answer to ``person``; ``None`` if there is none."""
        with self._lock:
            own = self._of.get(person)
            answer = None if own is None else own.get(digest(job, document))
            if own is None or answer is None:
                return None
            self._of.move_to_end(person)
            own.move_to_end(digest(job, document))
        return json.loads(answer)

    def keep(self, person: str, job: str, document: Document, answer: Document) -> None:
        """Keep an answer, and drop those used longest ago if there are too many."""
        kept = json.dumps(answer, separators=(",", ":")).encode()
        if len(kept) > LARGEST:
            return
        with self._lock:
            own = self._of.setdefault(person, OrderedDict())
            own[digest(job, document)] = kept
            self._of.move_to_end(person)
            if len(own) > EACH:
                own.popitem(last=False)
            if len(self._of) > PERSONS:
                self._of.popitem(last=False)


def digest(job: str, document: Document) -> bytes:
    """Return the key of a question: the hash of its canonical form."""
    spelled = json.dumps([job, document], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(spelled.encode()).digest()
