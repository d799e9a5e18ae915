"""Provide what processes do with vectors in chunks that the tests kill, and how they do it wrongly.

Chunks have four values, so that three make a vector, and are drawn on one thread: then every run
takes the same steps.
"""

import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from tests.faults.kills.steps import Steps
from tests.faults.kills.tasks import READER
from tests.faults.reports import Report
from tests.faults.stage import Ask, answer, open_home, vector_query

from penstock.encryption.key import Key
from penstock.mechanisms.process import Mechanism
from penstock.persistence.chunks.folder import FolderWriting
from penstock.randomness.stream import Stream
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.noise.long_vectors import attempts, sizes
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws
from penstock.services.queries.registration import register

CHUNK = 4
STREAMS = "streams"
"""The file beside the home with a digest of the noise key of each attempt, a line each."""

Flaw = Callable[[Server], None]


def no_flaw(_: Server) -> None:
    """Leave the product as it is."""


def noting(home: Path) -> Callable[[Mechanism, Fraction, bytes], ChunkDraws]:
    """Return what makes the draws of an attempt, and notes a digest of its noise key."""
    notes = home.with_name(STREAMS)

    def noted(mechanism: Mechanism, level: Fraction, key: bytes) -> ChunkDraws:
        with notes.open("a") as file:
            file.write(f"{hashlib.sha256(key).hexdigest()}\n")
        return ChunkDraws(mechanism, level, key)

    return noted


def on_one_thread(server: Server) -> None:
    """Let a server draw its chunks one after the other."""
    vars(server)["randomness"] = lambda: Stream.fresh(threads=1)


def _opened(home: Path, flaw: Flaw) -> Server:
    vars(sizes)["CHUNK"] = CHUNK
    vars(attempts)["ChunkDraws"] = noting(home)
    server = open_home(home)
    on_one_thread(server)
    flaw(server)
    return server


def ask_once(home: Path, ask: Ask, steps: Steps, flaw: Flaw, told: Path, taken: Path) -> None:
    """Ask for one release in chunks, and end at the step that ``steps`` names."""
    server = _opened(home, flaw)
    with steps.watching():
        got = answer(server, READER, ask)
    Report(told).add(READER, ask, got)
    taken.write_text(json.dumps(steps.taken))


def register_once(home: Path, name: str, steps: Steps, taken: Path) -> None:
    """Register a query whose anchor is in chunks, and end at the step that ``steps`` names."""
    server = _opened(home, no_flaw)
    request = vector_query(name, "laplace")
    with steps.watching():
        register(server, OPERATOR, request)
    taken.write_text(json.dumps(steps.taken))


def sharing_a_sealing_key(_: Server) -> None:
    """Seal the chunks of all attempts under one key, as if it were the query's."""

    class Shared(Key):
        @classmethod
        def fresh(cls) -> Key:  # type: ignore[override]  # not one of its own
            return Key(b"k" * 32)

    vars(attempts)["Key"] = Shared


def sharing_a_noise_key(server: Server) -> None:
    """Draw all attempts from one noise key, as if it were derived from query and level."""
    vars(server)["randomness"] = lambda: Stream.from_key(b"k" * 32)


def writing_chunks_last(_: Server) -> None:
    """Write the chunks only when their manifest is committed."""
    put, keep = FolderWriting.put, FolderWriting.keep
    waiting: list[tuple[int, bytes]] = []

    def kept(writing: FolderWriting) -> None:
        for index, content in waiting:
            put(writing, index, content)
        keep(writing)

    def delayed(_: FolderWriting, index: int, content: bytes) -> None:
        waiting.append((index, content))

    FolderWriting.put = delayed  # type: ignore[method-assign,assignment]  # names differ
    FolderWriting.keep = kept  # type: ignore[method-assign,assignment]
