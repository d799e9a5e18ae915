"""What a preview compares, as a table of choices, each of which may be taken by a button.

To take one is to send the form with a few fields changed: these are a button's value.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import parse_qsl, urlencode

from werkzeug.datastructures import MultiDict

from penstock.figures import percent
from penstock.services.schemas.previews import CountStructureView, PowersView, PreviewView
from penstock.services.schemas.stream_previews import StreamPreviewView, StructureView
from penstock.web.forms.choices import MECHANISMS, STRUCTURES
from penstock.web.presenters.template_filters import figure

_NAMES = {option.value: option.name for option in (*MECHANISMS, *STRUCTURES)}
_SETTINGS = (("k", "k ="), ("arity", "k ="), ("height", "height"))
_POWERS = {"laplace": 1.0, "gaussian": 2.0}


@dataclass(frozen=True)
class Choice:
    """One way; ``take`` is what its button sends, empty where it cannot be had from here."""

    name: str
    cells: tuple[str, ...]
    take: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Comparison:
    """Choices side by side; ``cells`` stand under ``head``, ``reason`` says which is best."""

    caption: str
    head: tuple[str, ...]
    choices: tuple[Choice, ...]
    reason: str = ""


def with_taken(given: MultiDict[str, str]) -> MultiDict[str, str]:
    """A form as it was sent, with the choice whose button was pressed."""
    changed = MultiDict(given)
    for name, value in parse_qsl(changed.pop("take", ""), keep_blank_values=True):
        changed[name] = value
    return changed


def written(comparison: Comparison) -> str:
    """Write a comparison down, to be kept with the work that made it."""
    return json.dumps(asdict(comparison))


def read(text: str) -> Comparison:
    """Read what ``written`` wrote."""
    parts = json.loads(text)
    choices = [Choice(**{**one, "cells": tuple(one["cells"])}) for one in parts.pop("choices")]
    return Comparison(**{**parts, "head": tuple(parts["head"]), "choices": tuple(choices)})


def powers(found: PowersView, asked: PreviewView) -> Comparison:
    """Which power of generalized Gaussian noise leaves the smallest largest error."""
    own = _POWERS.get(asked.mechanism, asked.p)
    return Comparison(
        f"Powers at epsilon {figure(found.epsilon)}, that of {found.tier}",
        ("expected largest error",),
        tuple(
            Choice(
                f"p = {one.p:g}" + (" (advised)" if one.p == found.recommended else ""),
                (f"±{figure(one.expected_maximum)}",),
                urlencode({"p": f"{one.p:g}"}),
                one.p == own,
            )
            for one in found.choices
        ),
        found.reason,
    )


def structures(found: Sequence[CountStructureView]) -> Comparison:
    """Counts each with noise of its own, or protected together."""
    tiers = [one.tier for one in found[0].tiers]
    return Comparison(
        "Ways to protect these counts, at the same privacy",
        (*(f"off by, at {tier}" for tier in tiers), "size off by", "numbers drawn"),
        tuple(
            Choice(
                _together(one),
                (
                    *(f"±{figure(tier.error.half_width)}" for tier in one.tiers),
                    _sizes(one),
                    f"{one.dimension:,}",
                ),
                "" if one.known_size else urlencode(_fields(one)),
                one.asked,
            )
            for one in found
        ),
        "A size that is public costs nothing and lets the counts have the least noise; it has to"
        " be known to everybody already.",
    )


def mechanisms(found: Iterable[tuple[str, PreviewView | str]], asked: str) -> Comparison:
    """The same question under each noise; a text says why one is not to be had."""
    shown = list(found)
    views = [one for _, one in shown if isinstance(one, PreviewView)]
    tiers = [tier.tier for tier in views[0].tiers] if views else []
    return Comparison(
        "The same under other noise",
        tuple(f"{what} {tier}" for tier in tiers for what in ("off by, at", "takes of")),
        tuple(
            Choice(
                _NAMES[name],
                _priced(one) if isinstance(one, PreviewView) else (one,),
                urlencode({"mechanism": name}) if isinstance(one, PreviewView) else "",
                name == asked,
            )
            for name, one in shown
        ),
    )


def trees(found: StreamPreviewView) -> Comparison:
    """The structures that a stream may have, at the guarantees of its tiers."""
    tiers = [tier.tier for tier in found.tiers]
    return Comparison(
        f"Structures at the same privacy, over {found.judged_steps:,} elements",
        (*(f"typical error (largest), at {tier}" for tier in tiers), "numbers kept"),
        tuple(
            Choice(
                _tree(one),
                (
                    *(f"±{figure(e.root_mean_square)} (±{figure(e.largest)})" for e in one.errors),
                    f"{one.kept:,}",
                ),
                "" if one.request is None else urlencode(_tree_fields(one.request)),
                one.chosen,
            )
            for one in found.structures
        ),
        "Typical and largest errors are standard deviations of a running total.",
    )


def _priced(one: PreviewView) -> tuple[str, ...]:
    return tuple(
        cell
        for tier in one.tiers
        for cell in (f"±{figure(tier.error.half_width)}", percent(tier.charge.share))
    )


def _together(one: CountStructureView) -> str:
    if one.structure is None:
        return "each by itself"
    if one.known_size:
        return "together, if the size is public and typed under counts over one population"
    return f"together, trade-off {figure(one.trade_off or 1)}"


def _sizes(one: CountStructureView) -> str:
    errors = [tier.size_error for tier in one.tiers if tier.size_error is not None]
    return ", ".join(f"±{figure(error.half_width)}" for error in errors) or "none released"


def _fields(one: CountStructureView) -> dict[str, str]:
    if one.structure is None:
        return {"kind": "statistic"}
    own = "" if one.trade_off is None else repr(one.trade_off)
    return {"kind": "counts", "trade_off": own, "known_size": ""}


def _tree(one: StructureView) -> str:
    name = {"epochs": "trees one after another", "square_root": "square root"}.get(
        one.structure, _NAMES.get(one.structure, one.structure)
    )
    told = [f"{word} {one.settings[key]}" for key, word in _SETTINGS if key in one.settings]
    if one.settings.get("subtracting"):
        told.append("with differences")
    marks = [
        word
        for word, holds in (
            ("least typical error", one.least_mean),
            ("least largest error", one.least_largest),
        )
        if holds
    ]
    praise = f" ({', '.join(marks)})" if marks else ""
    return ", ".join((name, *told)) + praise


def _tree_fields(request: Mapping[str, object]) -> dict[str, str]:
    fields = {"k": "", **request}
    return {name: "" if part is None else str(part) for name, part in fields.items()}
