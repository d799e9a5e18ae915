"""Draw long vectors of a query: its anchors, a more accurate one, and levels between them.

The caller holds no lock meanwhile.  What is drawn is stored in the database only if its neighbors
are still the nearest ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from penstock.mechanisms.process import IntVector, Mechanism
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.privacy.level import Ladder
from penstock.services.context import Server
from penstock.services.noise.long_vectors import attempts
from penstock.services.noise.long_vectors.chunk_draws import ChunkDraws
from penstock.services.noise.long_vectors.long_vector import LongVector, Steps, piece_of
from penstock.services.noise.long_vectors.rooms import Rooms
from penstock.services.noise.long_vectors.spread.chunk_work import Neighbor, hashes, works

Placed = tuple[int, Steps]
"""A stored release: its rung, and its lattice integers."""


@dataclass(frozen=True)
class Drawing:
    """Draw long vectors of one query into the server's store."""

    server: Server
    dataset: Dataset
    query: Query
    mechanism: Mechanism
    ladder: Ladder

    def anchors(self, rungs: Sequence[int], exact: IntVector) -> list[tuple[int, LongVector]]:
        """Return independent draws around exact values, one for each rung."""
        return [
            (
                rung,
                self._drawn(rung, lambda draws, index, span, _: draws.anchor(index, exact[span])),
            )
            for rung in rungs
        ]

    def raised(self, rung: int, exact: IntVector, anchor: Placed) -> LongVector:
        """Return a draw more accurate than the anchor, given the same exact values."""

        def draw(draws: ChunkDraws, index: int, span: slice, rooms: Rooms) -> IntVector:
            noisy = self._piece(anchor, index, span, rooms, "noisy")
            return draws.raised(index, exact[span], noisy)

        return self._drawn(rung, draw)

    def between(self, rung: int, accurate: Placed, noisy: Placed | None) -> LongVector:
        """Return a draw between the nearest stored releases, or beyond the noisiest one."""

        def draw(draws: ChunkDraws, index: int, span: slice, rooms: Rooms) -> IntVector:
            beyond = None if noisy is None else self._piece(noisy, index, span, rooms, "noisy")
            near = self._piece(accurate, index, span, rooms, "accurate")
            return draws.between(index, near, beyond)

        return self._drawn(rung, draw, self._spread(accurate, noisy))

    def _spread(self, accurate: Placed, noisy: Placed | None) -> attempts.Spread | None:
        """Return how the cluster of the settings draws; ``None`` for what the server draws itself.

        Vectors of earlier versions that are in their rows are read by the server alone.
        """
        address = self.server.settings.ray_address
        near, far = self._neighbor(accurate), noisy and self._neighbor(noisy)
        if not address or near is None or (noisy and far is None):
            return None
        # Imported late: most servers have no cluster.
        from penstock.services.noise.long_vectors.spread import cluster

        def spread(attempt: attempts.Attempt) -> list[str]:
            tasks = works(self.server.chunks, attempt, near, far)
            return hashes(cluster.results(address, tasks), "A worker of Ray")

        return spread

    def _neighbor(self, placed: Placed) -> Neighbor | None:
        rung, steps = placed
        return Neighbor(self.ladder.value(rung), steps) if isinstance(steps, LongVector) else None

    def _drawn(
        self, rung: int, draw: attempts.ChunkDraw, spread: attempts.Spread | None = None
    ) -> LongVector:
        return attempts.drawn(
            self.server,
            self.dataset,
            self.query,
            self.mechanism,
            rung,
            self.ladder.value(rung),
            draw,
            spread,
        )

    def _piece(
        self, placed: Placed, index: int, span: slice, rooms: Rooms, use: str
    ) -> tuple[Fraction, IntVector]:
        rung, steps = placed
        piece = piece_of(steps, index, span, self.mechanism.parts, rooms, use)
        return self.ladder.value(rung), piece
