"""Read what is to be computed from the values of a release, and compute it.

Keys are typed and chosen by the text that pages show for them.  Nothing is drawn or charged.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from werkzeug.datastructures import MultiDict

from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.services.noise.derived.answers import answered
from penstock.services.noise.derived.covariance import Weights
from penstock.services.noise.derived.quantities import (
    Derived,
    combination,
    combined,
    has_parts,
    ratio,
    require_noise,
    share,
)
from penstock.services.schemas.views import Key, ReleaseView
from penstock.web.forms.form_input import Form, kept, refused
from penstock.web.presenters.template_filters import figure

QUANTITIES: Mapping[str, str] = {
    "total": "The total of keys",
    "difference": "Keys less other keys",
    "share": "The share of keys in others",
    "ratio": "Keys divided by others",
}

MOST_LISTED = 200
"""Largest number of keys in a list to choose from; of more, they are typed."""

MOST_VALUES = 100_000
"""Largest number of values that a page computes from."""

MOST_NAMED = 4
"""Number of keys that a sentence names."""

Received = Callable[[str], ReleaseView]
"""Returns a release that the caller received, by its identifier."""


@dataclass(frozen=True)
class Row:
    """Hold a quantity as it is shown: its name, its value and the ends of its interval."""

    name: str
    value: str
    lower: str
    upper: str


@dataclass(frozen=True)
class DerivedForm:
    """Hold the form, the keys to choose from, and what was computed.

    ``keys`` is ``None`` if there are too many to list.  ``offered`` is False for a release from
    whose values no quantity is computed here.  ``left_out`` counts the rows beyond those shown.
    """

    form: Form
    keys: Sequence[str] | None
    offered: bool
    rows: Sequence[Row] = ()
    law: str = ""
    left_out: int = 0


def derived(release: ReleaseView, given: MultiDict[str, str], received: Received) -> DerivedForm:
    """Return the form for ``release`` as it was sent, with its result or why there is none.

    Of a workload the answers are computed from, and not the sums that are protected.
    """
    release = answered(release)
    keys = [label(key) for key in release.keys] if len(release.keys) <= MOST_LISTED else None
    offered = _is_offered(release)
    if not given.get("quantity") and not given.get("with"):
        return DerivedForm(kept(given), keys, offered)
    try:
        rows, law = _computed(release, given, received)
    except (InvalidInput, Conflict) as problem:
        return DerivedForm(refused(given, problem), keys, offered=True)
    left_out = max(len(rows) - MOST_LISTED, 0)
    return DerivedForm(kept(given), keys, offered, rows[:MOST_LISTED], law, left_out)


def label(key: Key) -> str:
    """Return a key as one text."""
    return ", ".join(key) if isinstance(key, list) else str(key)


def _is_offered(release: ReleaseView) -> bool:
    """Return False where values are no numbers that anybody adds up."""
    try:
        require_noise(release)
    except InvalidInput:
        return False
    read_otherwise = release.moments is not None or release.quantiles is not None
    return not read_otherwise and 1 < len(release.values) <= MOST_VALUES


def _computed(
    release: ReleaseView, given: MultiDict[str, str], received: Received
) -> tuple[list[Row], str]:
    if len(release.values) > MOST_VALUES:
        raise InvalidInput(
            f"The release has {len(release.values):,} values; pages compute from"
            f" {MOST_VALUES:,} at most. The client computes from all: penstock_client.derived."
        )
    if given.get("with"):
        return _combined(release, given["with"].strip(), received)
    quantity = given["quantity"]
    if quantity not in QUANTITIES:
        raise InvalidInput(f"Choose {', '.join(QUANTITIES)}.", pointer="/quantity")
    require_noise(release)
    places = _places(release)
    first, named = _chosen(release, places, given, "first", whole=quantity == "total")
    if quantity == "total":
        return _single(f"Total of {named}", combination(release, first))
    second, other = _chosen(release, places, given, "second", whole=quantity == "share")
    if quantity == "difference":
        return _single(f"{named}, less {other}", combination(release, first - second))
    if quantity == "ratio":
        return _single(f"{named}, divided by {other}", ratio(release, first, second))
    shown = share(release, first, second)
    return [_row(f"Share of {named} in {other}", shown, _percent)], shown.law


def _combined(release: ReleaseView, other: str, received: Received) -> tuple[list[Row], str]:
    """Return each value from two releases."""
    if other == release.id:
        raise InvalidInput(
            "That is this release itself; enter the identifier of another.", pointer="/with"
        )
    try:
        both = combined(release, answered(received(other)))
    except NotFound as problem:
        raise InvalidInput(
            f"You have no release {other!r}. A release’s page ends with its identifier.",
            pointer="/with",
        ) from problem
    rows = [_row(label(key), each) for key, each in zip(release.keys, both, strict=True)]
    return rows, both[0].law if both else ""


def _places(release: ReleaseView) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, key in enumerate(release.keys):
        places.setdefault(label(key), []).append(place)
    return places


def _chosen(
    release: ReleaseView,
    places: Mapping[str, Sequence[int]],
    given: MultiDict[str, str],
    name: str,
    *,
    whole: bool,
) -> tuple[Weights, str]:
    """Return weights of 1 for the keys of a field, and their names.

    Without any they are all keys, if ``whole`` and if these are parts of one whole.
    """
    texts = given.getlist(name)
    typed = [text for text in texts if text in places]
    for text in texts:
        if text not in places:
            typed += [line.strip() for line in text.splitlines() if line.strip()]
    typed = list(dict.fromkeys(typed))
    if not typed and whole and has_parts(release):
        return np.ones(len(release.values)), f"all {len(release.values):,} keys"
    if not typed:
        others = "" if has_parts(release) else ": values here are not parts of one whole"
        others = " of one table" if release.marginals is not None else others
        raise InvalidInput(f"Choose at least one key{others}.", pointer=f"/{name}")
    weights = np.zeros(len(release.values))
    for text in typed:
        at = places.get(text, ())
        if len(at) != 1:
            problem = (
                f"{len(at)} keys are written {text!r}; only the client tells them apart."
                if at
                else f"{release.query} has no key {text!r}; enter keys as they are listed."
            )
            raise InvalidInput(problem, pointer=f"/{name}")
        weights[at[0]] = 1.0
    return weights, _names(typed)


def _names(texts: Sequence[str]) -> str:
    if len(texts) > MOST_NAMED:
        return f"{', '.join(texts[: MOST_NAMED - 1])} and {len(texts) - MOST_NAMED + 1:,} more"
    return " + ".join(texts)


def _single(name: str, shown: Derived) -> tuple[list[Row], str]:
    return [_row(name, shown)], shown.law


def _row(name: str, shown: Derived, written: Callable[[float], str] = figure) -> Row:
    lower = written(shown.lower) if math.isfinite(shown.lower) else "no end"
    upper = written(shown.upper) if math.isfinite(shown.upper) else "no end"
    return Row(name, written(shown.value), lower, upper)


def _percent(value: float) -> str:
    return f"{figure(100 * value)}%"
