"""Represent a query for a vector of values, each with a draw of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session
from typing_extensions import override

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.multiple_release import place
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.answer_fingerprints import fingerprint, seal_fingerprint
from penstock.services.noise.kinds.kind import Draw, QueryKind, Reading, keys_of
from penstock.services.noise.level_rule import drawn_at
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.drawing import Drawing
from penstock.services.noise.long_vectors.lazy_values import LazyValues
from penstock.services.noise.long_vectors.long_vector import LongVector, Steps, at_hand, opened
from penstock.services.noise.long_vectors.manifest import is_manifest
from penstock.services.noise.long_vectors.sizes import exceeds
from penstock.services.noise.sealing import SealedRelease, StoredRelease, open_steps, seal_steps
from penstock.services.schemas.queries import Terms


@dataclass(frozen=True)
class VectorKind(QueryKind):
    """Represent a vector: its drawn values are the released ones."""

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return no fields: every row is a vector if it is of no other kind."""
        return {}

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return no fields: every request is for a vector if it is of no other kind."""
        return {}

    @override
    def first_draw(
        self,
        server: Server,
        dataset: Dataset,
        query: Query,
        rungs: Sequence[int],
        exact: IntVector,
    ) -> Draw:
        """Draw all of ``rungs``; a fingerprint of the exact answer is stored with them."""
        vectors: Sequence[tuple[int, Steps]]
        digest = fingerprint(server, query, exact)

        def keep(_: Session, dataset: Dataset, row: Query) -> None:
            row.sealed_fingerprint = seal_fingerprint(server, dataset, row, digest)

        if self.is_long(query):
            vectors = self.long(server, dataset, query).anchors(rungs, exact)
        else:
            vectors = drawn_at(server, self, rungs, exact)
        return Draw(vectors, keep)

    @override
    def is_long(self, query: Query) -> bool:
        """Return True for more values than a row takes; other kinds have no chunks."""
        return type(self) is VectorKind and exceeds(query)

    def long(self, server: Server, dataset: Dataset, query: Query) -> Drawing:
        """Return what draws the query's long vectors."""
        return Drawing(server, dataset, query, self.mechanism, self.ladder)

    @override
    def exact(self, step: Fraction, answer: NDArray[np.int64]) -> IntVector:
        """Return the answer in steps of the lattice; a long one in its own place."""
        scale = step / self.mechanism.granularity
        is_short = len(answer) <= sizes.longest_row()
        if is_short or scale.denominator != 1 or not answer.flags.writeable:
            return super().exact(step, answer)
        answer *= np.int64(scale.numerator)
        return answer

    @override
    def draw(
        self,
        session: Session,
        server: Server,
        dataset: Dataset,
        query: Query,
        rung: int,
        accurate: StoredRelease | None,
        noisy: StoredRelease | None,
    ) -> Draw:
        """Draw a point of the path of noise, given the stored points next to it."""

        def point(release: StoredRelease) -> tuple[Fraction, IntVector]:
            steps = self.opened(server, dataset, query, release)
            release.let_go()
            return self.ladder.value(release.rung), steps

        nearest = point(self.anchored(query, accurate))
        beyond = point(noisy) if noisy else None
        steps = place(
            self.mechanism,
            nearest,
            beyond,
            self.ladder.value(rung),
            server.randomness(),
            room=beyond[1] if beyond else None,
        )
        return Draw([(rung, steps)])

    @override
    def sealed(
        self, server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: Steps
    ) -> bytes:
        """Encrypt all parts of the vector for its row, or the manifest of its chunks."""
        if isinstance(steps, LongVector):
            return steps.sealed(server, dataset, query, rung, seq)
        return seal_steps(server, dataset, query, rung, seq, steps, self.mechanism.parts)

    @override
    def opened(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> IntVector:
        """Return all parts of the vector."""
        return at_hand(self.stored(server, dataset, query, release))

    @override
    def stored(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> Steps:
        """Return all parts of the vector, in chunks if its row has a manifest."""
        if self.is_long(query):
            stored = release.ciphertext
            if is_manifest(stored):
                return opened(server, dataset, query, release, stored)
            del stored
        return open_steps(server, dataset, query, release, self.mechanism.parts)

    @override
    def reading(self, query: Query, rung: int, steps: Steps) -> Reading:
        """Return the values; those in chunks are read when they are needed."""
        if not isinstance(steps, LongVector):
            return super().reading(query, rung, steps)
        values: Any = LazyValues(steps, partial(self.values, rung))
        return Reading(
            keys_of(query),
            values,
            self.error(rung),
            errors=self.errors(rung),
            covariance=self.covariance(rung),
        )
