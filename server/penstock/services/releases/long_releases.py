"""Draw a long vector before its query is locked, and use it only if it fits under the lock.

Drawing takes seconds, for which nobody is kept waiting.  A draw is conditioned on its neighbors: it
is stored only if they are still the nearest releases, and it is read by nobody before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from penstock.services.context import Server
from penstock.services.noise.kinds.kind import Draw
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.noise.long_vectors.drawing import Placed
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.long_vectors.manifest import LARGEST
from penstock.services.noise.sealing import StoredRelease
from penstock.services.releases.allowed import AllowedRequest
from penstock.services.releases.locked_state import LockedState

MANIFEST = 2 * LARGEST
"""Bytes by which a manifest and its leaf make the database grow, at most."""


class Overtaken(Exception):
    """Tell that a draw does not fit what is stored by now."""


_STORED, _USELESS, _UNKNOWN = LongVector.kept, LongVector.thrown_away, LongVector.let_go
"""What becomes of the chunks of a draw."""


@dataclass(frozen=True)
class Nearest:
    """Hold the nearest releases on either side of a level that nobody holds."""

    accurate: StoredRelease
    noisy: StoredRelease | None


@dataclass
class DrawnAhead:
    """Hold a draw and the releases that it was drawn from; neither, if its level was stored."""

    rung: int
    near: Nearest | None = None
    vector: LongVector | None = None
    used: bool = field(default=False)

    def fitting(
        self, allowed: AllowedRequest, accurate: StoredRelease | None, noisy: StoredRelease | None
    ) -> Draw:
        """Return the draw for the level and the neighbors that are true under the lock.

        Raises ``Overtaken`` if it was drawn for others, and ``IntegrityViolation`` without an
        ``accurate`` one.
        """
        allowed.kind.anchored(allowed.query, accurate)
        if self.vector is None or self.near is None or self.rung != allowed.rung:
            raise Overtaken
        drawn_from = self.near.accurate.id, self.near.noisy and self.near.noisy.id
        if drawn_from != (accurate and accurate.id, noisy and noisy.id):
            raise Overtaken
        self.used = True
        return Draw([(self.rung, self.vector)])

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Keep the chunks if the draw was stored meanwhile, and remove them if it was not.

        After an error they stay: the commit may have happened.  The next sweep finds out.
        """
        outcome = _UNKNOWN
        try:
            yield
            outcome = _STORED if self.used else _USELESS
        except Overtaken:
            outcome = _USELESS
            raise
        finally:
            if self.vector is not None:
                outcome(self.vector)


def nearest(allowed: AllowedRequest, state: LockedState) -> Nearest | None:
    """Return the releases that a level is drawn from; None if the level is stored.

    Raises ``IntegrityViolation`` without a release that is more accurate.
    """
    if state.stored is not None:
        return None
    return Nearest(allowed.kind.anchored(allowed.query, state.accurate), state.noisy)


def drawn(server: Server, allowed: AllowedRequest, near: Nearest | None) -> DrawnAhead:
    """Draw a level between the nearest releases into the store."""
    kind, dataset, query = allowed.kind, allowed.dataset, allowed.query
    if near is None:
        return DrawnAhead(allowed.rung)
    if not isinstance(kind, VectorKind):
        raise TypeError("only vectors are long")

    def placed(release: StoredRelease) -> Placed:
        steps = kind.stored(server, dataset, query, release)
        release.let_go()
        return release.rung, steps

    noisy = None if near.noisy is None else placed(near.noisy)
    drawing = kind.long(server, dataset, query)
    with server.drawing():
        vector = drawing.between(allowed.rung, placed(near.accurate), noisy)
    return DrawnAhead(allowed.rung, near, vector)
