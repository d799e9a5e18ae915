"""Define what holds of the chunks of a home at every moment, whoever was killed while they came."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sqlmodel import select
from tests.faults.kills.structures.long_tasks import STREAMS

from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.context import Server
from penstock.services.noise.long_vectors import abandoned
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.sealed_state import stored_state

KEY_ID, SALT_AND_NONCE = slice(2, 10), slice(10, 54)
"""Where an envelope has the public name of its key, and what no two may have in common."""


class Attempts:
    """Compare the chunks of a home with all that it ever had: attempts that died are among them."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._chunks: dict[Path, bytes] = {}

    def complaints(self, server: Server) -> list[str]:
        """Return what is wrong: a key or a nonce that two used, a release without chunks."""
        return [*self._written(), *self._repeated(), *self._unreadable(server)]

    def left(self) -> set[str]:
        """Return the attempts that have a folder now; one without its name has no chunks."""
        return {path.name for path in (self._home / "chunks").glob("[!.]*")}

    def named(self, server: Server) -> set[str]:
        """Return the attempts that a row names."""
        with server.database.read() as session:
            return set(abandoned.named(session))

    def _written(self) -> Iterator[str]:
        """Yield the chunks that were written a second time, and remember the new ones."""
        for path in sorted((self._home / "chunks").glob("*/????????")):
            content = path.read_bytes()
            if self._chunks.setdefault(path, content) != content:
                yield f"{path.name} of attempt {path.parent.name} was replaced"

    def _repeated(self) -> Iterator[str]:
        # Who was killed in the middle of a chunk may have left less than a header.
        headed = {path: text for path, text in self._chunks.items() if len(text) > 54}
        keys = {(path.parent, text[KEY_ID]) for path, text in headed.items()}
        if len({key for _, key in keys}) < len(keys):
            yield "two attempts share a sealing key"
        if len({text[SALT_AND_NONCE] for text in headed.values()}) < len(headed):
            yield "two chunks share a nonce"
        notes = self._home.with_name(STREAMS)
        taken = Counter(notes.read_text().split() if notes.exists() else ())
        if taken and max(taken.values()) > 1:
            yield "two attempts share a noise key"

    def _unreadable(self, server: Server) -> Iterator[str]:
        """Yield the releases whose chunks are not all there, as their manifests say."""
        with server.database.read() as session:
            for release in session.exec(select(Release)).all():
                query = session.get_one(Query, release.query_id)
                dataset = session.get_one(Dataset, query.dataset_id)
                try:
                    steps = stored_state(server, dataset, query, release)
                    assert isinstance(steps, LongVector)
                    steps.require_whole()
                except IntegrityViolation as problem:
                    yield problem.detail
