"""Show a part of a release: the values of a range of positions."""

from dataclasses import replace
from typing import Any

import numpy as np

from penstock.errors import InvalidInput
from penstock.services.noise.long_vectors.lazy_values import LazyArray, Stretch
from penstock.services.noise.long_vectors.sizes import CHUNK, MOST_AT_ONCE
from penstock.services.schemas.views import PartView, ReleaseView


def ranged(view: ReleaseView, first: int | None, last: int | None) -> ReleaseView:
    """Return the values from position ``first`` to ``last``, both included.

    Without one of them it is the first or the last position.  Raises ``InvalidInput``.
    """
    count = len(view.values)
    start, end = 0 if first is None else first, count - 1 if last is None else last
    if start >= count:
        raise InvalidInput(
            f"The release has {count:,} values, at the positions from 0 on; {start:,} is not one"
            " of them.",
            pointer="/from",
        )
    if not start <= end < count:
        raise InvalidInput(
            f"The release has {count:,} values; the last position of a range is from {start:,},"
            f" its first one, to {count - 1:,}, and not {end:,}.",
            pointer="/to",
        )
    mean, errors, rows = view.mean, view.errors, slice(start, end + 1)
    return replace(
        view,
        keys=_cut(view.keys, start, end + 1),
        values=_cut(view.values, start, end + 1),
        mean=mean and _fields(mean, rows, "lower", "upper", "centered_sums", "counts"),
        errors=errors and _fields(errors, rows, "standard_deviations", "half_widths"),
        part=PartView(start, end, count),
    )


def first_part(view: ReleaseView) -> ReleaseView:
    """Return a release, or its first values if it is too long to be shown as a whole."""
    return ranged(view, 0, CHUNK - 1) if len(view.values) > MOST_AT_ONCE else view


def without_values(view: ReleaseView) -> ReleaseView:
    """Return a release, or one without values if there are too many for an answer.

    They are read by ranges, or as a table.
    """
    count = len(view.values)
    if count <= MOST_AT_ONCE:
        return view
    return replace(view, keys=[], values=np.empty(0), part=PartView(None, None, count))


def _cut(whole: Any, start: int, stop: int) -> Any:
    if isinstance(whole, LazyArray):
        return whole.between(start, stop)
    if isinstance(whole, list | np.ndarray):
        return whole[start:stop]
    return Stretch(whole, start, stop)


def _fields(view: Any, rows: slice, *names: str) -> Any:
    return replace(view, **{name: np.asarray(getattr(view, name))[rows] for name in names})
