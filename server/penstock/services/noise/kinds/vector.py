"""Represent a query for a vector of values, each with a draw of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlmodel import Session
from typing_extensions import override

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.multiple_release import place
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.noise.answer_fingerprints import fingerprint, seal_fingerprint
from penstock.services.noise.kinds.kind import Draw, QueryKind
from penstock.services.noise.level_rule import drawn_at
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
        self, server: Server, query: Query, rungs: Sequence[int], exact: IntVector
    ) -> Draw:
        """Draw all of ``rungs``; a fingerprint of the exact answer is stored with them."""
        digest = fingerprint(server, query, exact)

        def keep(_: Session, dataset: Dataset, row: Query) -> None:
            row.sealed_fingerprint = seal_fingerprint(server, dataset, row, digest)

        return Draw(drawn_at(server, self, rungs, exact), keep)

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
        self, server: Server, dataset: Dataset, query: Query, rung: int, seq: int, steps: IntVector
    ) -> bytes:
        """Encrypt all parts of the vector for its row."""
        return seal_steps(server, dataset, query, rung, seq, steps, self.mechanism.parts)

    @override
    def opened(
        self, server: Server, dataset: Dataset, query: Query, release: SealedRelease
    ) -> IntVector:
        """Return all parts of the vector."""
        return open_steps(server, dataset, query, release, self.mechanism.parts)
