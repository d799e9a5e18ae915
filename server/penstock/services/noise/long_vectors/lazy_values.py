"""Provide the values of a long release as a sequence whose parts are read when they are needed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from penstock.mechanisms.process import IntVector
from penstock.services.noise.long_vectors.long_vector import LongVector


class LazyArray(Sequence[Any]):
    """Represent an array of ``size`` numbers; a slice of it is an array."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Return the numbers from ``start`` up to ``stop``, counted in the whole vector."""
        raise NotImplementedError

    def between(self, start: int, stop: int) -> "LazyArray":
        """Return those of ``start`` up to ``stop``, counted in the whole vector."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Return the number of numbers."""
        return self.stop - self.start

    def __len__(self) -> int:
        return self.size

    @override
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            places = range(self.size)[index]
            if places.step != 1:
                raise ValueError("parts of a long vector are read without steps")
            first, end = places.start, max(places.start, places.stop)
            return self.part(self.start + first, self.start + end)
        place = self.start + range(self.size)[index]
        return self.part(place, place + 1)[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.part(self.start, self.stop), dtype=dtype)


class Stretch(Sequence[Any]):
    """Represent the items of a long sequence from ``start`` up to ``stop``, made when needed."""

    def __init__(self, whole: Sequence[Any], start: int, stop: int) -> None:
        self.whole, self.places = whole, range(start, stop)

    def __len__(self) -> int:
        return len(self.places)

    @override
    def __getitem__(self, index: Any) -> Any:
        places = self.places[index]
        if isinstance(places, range):
            return self.whole[places.start : places.stop]
        return self.whole[places]


class LazyPositions(LazyArray):
    """Represent the keys of a vector without keys: its positions."""

    @override
    def part(self, start: int, stop: int) -> NDArray[np.int64]:
        return np.arange(start, stop, dtype=np.int64)

    @override
    def between(self, start: int, stop: int) -> "LazyPositions":
        return LazyPositions(start, stop)


class LazyValues(LazyArray):
    """Represent the values of a release; ``shown`` makes them of lattice integers.

    The chunk that was read last is kept: parts are mostly read in their order.
    """

    def __init__(
        self,
        vector: LongVector,
        shown: Callable[[IntVector], NDArray[np.float64]],
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        super().__init__(start, vector.manifest.values if stop is None else stop)
        self._vector, self._shown = vector, shown
        self._last: tuple[int, NDArray[np.float64]] | None = None

    @override
    def part(self, start: int, stop: int) -> NDArray[np.float64]:
        size = self._vector.manifest.chunk
        pieces = []
        for index in range(start // size, -(-stop // size)):
            values, first = self._chunk(index), index * size
            pieces.append(values[max(0, start - first) : stop - first])
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0)

    @override
    def between(self, start: int, stop: int) -> "LazyValues":
        return LazyValues(self._vector, self._shown, start, stop)

    def _chunk(self, index: int) -> NDArray[np.float64]:
        if self._last is None or self._last[0] != index:
            self._last = None  # before the next one is read
            self._last = index, self._shown(self._vector.chunk(index))
        return self._last[1]
