"""Release one vector at many levels, in any order, on one path of the noise process.

The exact values are read once, for the anchor, which is the most accurate release.  Every other
release is drawn from its two nearest neighbors alone, never from the data (Andersson, Retschmeier,
Nelson, Pagh 2025, Algorithms 1 and 2), so that readers who pool their releases learn exactly what
the most accurate of these says.

The three functions are for callers that store the path themselves; ``MultipleRelease`` keeps it in
memory.
"""

import hmac
from bisect import bisect_left
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import IntegrityViolation, InvalidInput
from penstock.mechanisms import serialization as states
from penstock.mechanisms.lattice import lattice_steps
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.privacy.level import Ladder
from penstock.randomness.stream import Stream

Placed = tuple[Fraction, IntVector]
"""A stored release: its level, and its values in lattice steps with all their parts."""

FARTHEST = 1 << 60
"""No release is further from 0, in lattice steps, except with probability e^-2^18."""

Keeper = Callable[[bytes], None]
"""Stores a state durably and sealed, and raises if it cannot."""


def draw_anchor(
    mechanism: Mechanism, exact: IntVector, level: Fraction, stream: Stream
) -> IntVector:
    """Draw the first and most accurate release of ``exact``, both in lattice steps.

    It is the only draw, besides ``raise_anchor``, that sees the exact values; both return shape
    ``(parts * size,)``, the values first.  Other parts count from the anchor on: the anchor's own,
    next to its values, would give the exact values away.
    """
    size = len(exact)
    release = mechanism.increment(Fraction(0), level, size, stream)
    release[:size] += exact
    release[size:] = 0
    return _ended(release)


def place(
    mechanism: Mechanism,
    accurate: Placed | None,
    noisy: Placed | None,
    level: Fraction,
    stream: Stream,
    *,
    room: IntVector | None = None,
) -> IntVector:
    """Draw a new release at ``level``, given the nearest stored ones on either side.

    ``accurate`` is the nearest with less noise, ``noisy`` the nearest with more, or ``None`` if
    ``level`` will be the noisiest.  They must be the nearest: a draw that skips a neighbor is
    independent of it, and the average of the two reveals more than either may.  Raises
    ``InvalidInput`` without an ``accurate`` neighbor, for ``level`` not strictly between the two,
    and for vectors of different sizes.

    ``room`` is overwritten with the neighbors' difference, in place of a new vector: that of
    ``noisy``, if it is not needed afterwards.
    """
    if accurate is None:
        raise InvalidInput(
            f"No stored release is more accurate than level {float(level):g}; draw the"
            " anchor, or raise it, which needs the exact values."
        )
    start, values = accurate
    if noisy is None:
        release = mechanism.increment(start, level, len(values) // mechanism.parts, stream)
    else:
        end, far = noisy
        _check_sizes(values, far)
        difference = np.subtract(far, values, out=room)
        release = mechanism.bridge(start, end, difference, level, stream)
    release += values
    return _ended(release)


def raise_anchor(
    mechanism: Mechanism, exact: IntVector, noisy: Placed, level: Fraction, stream: Stream
) -> IntVector:
    """Draw a release more accurate than the anchor ``noisy``: the bridge from no noise to it.

    ``exact`` must be the values that the anchor was drawn from.  Raises ``InvalidInput`` for a
    ``level`` that is not below the anchor's, and for vectors of different sizes.
    """
    end, far = noisy
    size = len(far) // mechanism.parts
    _check_sizes(exact, far[:size])
    own = mechanism.resolve(far[:size] - exact, end, stream)
    release = mechanism.bridge(Fraction(0), end, own, level, stream)
    release += far
    release -= own
    return _ended(release)


def released(mechanism: Mechanism, kept: IntVector) -> IntVector:
    """Return the values of a stored release, in lattice steps: a view of shape ``(size,)``."""
    return kept[: len(kept) // mechanism.parts]


class MultipleRelease:
    """Release one vector at any levels of its ladder, in any order.

    A release is drawn once and remembered.  The exact values are dropped as soon as the
    anchor is drawn, which is at construction.

    If given, ``keep`` is called with the new ``state()`` after every draw, before the release is
    returned, so that no process that resumes from it draws the level again.  If it raises,
    nothing was released.  Only one process at a time may hold a state: two would draw the same
    level twice, and readers who pool both releases learn more than either may reveal.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        ladder: Ladder,
        values: ArrayLike,
        ceiling: Fraction | float,
        *,
        streams: Callable[[], Stream] = Stream.fresh,
        fingerprint_key: bytes | None = None,
        keep: Keeper | None = None,
    ) -> None:
        """Draw the anchor at ``ceiling``, the most accurate level to be released.

        ``mechanism`` and ``ladder`` come from the mechanism's ``plan``; ``values`` has
        shape ``(size,)`` and lies on the lattice.  With a ``fingerprint_key``, which
        the caller keeps, ``raise_ceiling`` refuses other values than these.  Raises
        ``InvalidInput`` for values off the lattice and levels off the ladder.
        """
        exact = lattice_steps(values, mechanism.granularity)
        self._hold(mechanism, ladder, {}, _fingerprint(fingerprint_key, exact), streams, keep)
        rung = ladder.rung_at_or_above(_level(ceiling))
        self._add(rung, draw_anchor(mechanism, exact, ladder.value(rung), streams()))

    @classmethod
    def from_state(
        cls,
        state: bytes,
        *,
        mechanisms: Mapping[str, Callable[[Fraction], Mechanism]],
        streams: Callable[[], Stream] = Stream.fresh,
        keep: Keeper | None = None,
    ) -> Self:
        """Resume from what ``state`` returned, usually in another process: nothing is drawn.

        ``mechanisms`` is ``MECHANISMS``, or the part of it that is accepted.
        Raises ``IntegrityViolation`` for bytes that are damaged, of another format or of a
        mechanism that is not among them.  The bytes do not
        show whether they are the newest state.
        """
        known = states.decode(state)
        try:
            mechanism = mechanisms[known.mechanism](known.granularity)
        except (KeyError, InvalidInput):
            raise IntegrityViolation(
                f"The state is of the mechanism {known.mechanism!r} with granularity"
                f" {known.granularity}, which is not accepted here; accepted are"
                f" {', '.join(mechanisms)}. Nothing was drawn from it."
            ) from None
        if any(len(kept) % mechanism.parts for kept in known.path.values()):
            raise IntegrityViolation(
                f"The state's number of integers is not a multiple of {mechanism.parts}, the number"
                f" that {known.mechanism} noise keeps for each value. Nothing was drawn from it."
            )
        restored = cls.__new__(cls)
        restored._hold(  # noqa: SLF001 - an instance of this class, not yet initialized
            mechanism, known.ladder, known.path, known.fingerprint, streams, keep
        )
        return restored

    def _hold(
        self,
        mechanism: Mechanism,
        ladder: Ladder,
        path: Mapping[int, IntVector],
        fingerprint: bytes | None,
        streams: Callable[[], Stream],
        keep: Keeper | None,
    ) -> None:
        self._mechanism, self._ladder = mechanism, ladder
        self._path, self._fingerprint = dict(path), fingerprint
        self._streams, self._keep = streams, keep

    def at(self, level: Fraction | float) -> NDArray[np.float64]:
        """Return the release at the first rung with at least ``level``'s noise: shape ``(size,)``.

        The values are in their own units, without the noise's bias. A repeated call returns the
        same values. Raises ``InvalidInput`` above the ceiling and beyond the ladder.
        """
        rung = self._ladder.rung_at_or_above(_level(level))
        if rung not in self._path:
            self._add(rung, self._draw(rung))
        bias = float(self._mechanism.bias(self._ladder.value(rung)))
        noisy = released(self._mechanism, self._path[rung]).astype(np.float64)
        noisy *= float(self._mechanism.granularity)
        noisy -= bias
        return noisy

    def raise_ceiling(
        self,
        values: ArrayLike,
        ceiling: Fraction | float,
        *,
        fingerprint_key: bytes | None = None,
    ) -> None:
        """Allow levels down to ``ceiling``, given the same exact values once more.

        From here on readers may lose as much as at the new ceiling.  Raises
        ``InvalidInput`` if the ceiling is not higher than before, and for values of
        another fingerprint or size.
        """
        exact = lattice_steps(values, self._mechanism.granularity)
        known = self._fingerprint
        if known is not None and not hmac.compare_digest(
            known, _fingerprint(fingerprint_key, exact) or b""
        ):
            raise InvalidInput(
                "These are not the values that the anchor was drawn from, or the key differs from"
                " the first; a release of other values would reveal more than the ceiling allows."
            )
        rung, anchor = min(self._path.items())
        requested_rung = self._ladder.rung_at_or_above(_level(ceiling))
        if requested_rung >= rung:
            raise InvalidInput(
                f"Level {float(ceiling):g} is not more accurate than the ceiling,"
                f" {float(self._ladder.value(rung)):g}; releases there need no exact values."
            )
        raised = raise_anchor(
            self._mechanism,
            exact,
            (self._ladder.value(rung), anchor),
            self._ladder.value(requested_rung),
            self._streams(),
        )
        self._add(requested_rung, raised)

    def state(self) -> bytes:
        """Return everything that ``from_state`` resumes from, in ``serialization``'s format.

        It is private at the ceiling, and no more than that: it contains every release
        that was drawn.  Seal it before it is stored, and keep the ``fingerprint_key``,
        which is not in it, elsewhere.
        """
        return self._encoded(self._path)

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """Return the levels drawn so far, the most accurate first: a record, not data."""
        return tuple(self._ladder.value(rung) for rung in sorted(self._path))

    def _add(self, rung: int, release: IntVector) -> None:
        """Add a release: store it first, then make it available."""
        path = self._path | {rung: release}
        if self._keep is not None:
            self._keep(self._encoded(path))
        self._path = path

    def _encoded(self, path: Mapping[int, IntVector]) -> bytes:
        mechanism = self._mechanism
        return states.encode(
            states.State(
                mechanism.name, mechanism.granularity, self._ladder, path, self._fingerprint
            )
        )

    def _draw(self, rung: int) -> IntVector:
        stored = sorted(self._path)
        position = bisect_left(stored, rung)
        accurate, noisy = stored[:position], stored[position:]
        return place(
            self._mechanism,
            self._placed(accurate[-1]) if accurate else None,
            self._placed(noisy[0]) if noisy else None,
            self._ladder.value(rung),
            self._streams(),
        )

    def _placed(self, rung: int) -> Placed:
        return self._ladder.value(rung), self._path[rung]


def _ended(release: IntVector) -> IntVector:
    """Return ``release`` with every value beyond ``FARTHEST`` set to it.

    Laplace noise has all integers in its support, and draws are capped at twice as far: a
    release is the same function of an unbounded one, whatever the exact value.
    """
    np.clip(release, -FARTHEST, FARTHEST, out=release)
    return release


def _level(level: Fraction | float) -> Fraction:
    try:
        return Fraction(level)
    except (ValueError, OverflowError):
        raise InvalidInput(f"A noise level is a finite number, not {level}.") from None


def _check_sizes(first: IntVector, second: IntVector) -> None:
    if first.shape != second.shape:
        raise InvalidInput(
            f"The vector has {len(first)} values, its stored neighbor {len(second)}; both"
            " must come from the same query."
        )


def _fingerprint(key: bytes | None, exact: IntVector) -> bytes | None:
    if key is None:
        return None
    return hmac.digest(key, exact.astype("<i8").tobytes(), "sha256")
