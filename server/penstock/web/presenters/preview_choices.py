"""Present the alternatives of a preview as tables of choices, each with a button.

A button sends the form with a few fields changed; these fields are its value.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import parse_qsl, urlencode

from werkzeug.datastructures import MultiDict

from penstock.figures import percent
from penstock.services.schemas.previews import (
    CountStructureView,
    PowersView,
    PreviewView,
    StrategyErrorView,
    StrategyView,
)
from penstock.services.schemas.stream_previews import (
    StreamNoiseView,
    StreamPreviewView,
    StructureView,
)
from penstock.web.forms.choices import MECHANISMS, STRUCTURES
from penstock.web.presenters.template_filters import figure

_NAMES = {option.value: option.name for option in (*MECHANISMS, *STRUCTURES)}
_SETTINGS = (("k", "k ="), ("arity", "k ="), ("height", "height"))
_STRUCTURES = {"epochs": "trees one after another", "square_root": "square root"}
_POWERS = {"laplace": 1.0, "gaussian": 2.0}


@dataclass(frozen=True)
class Choice:
    """Hold one alternative; ``take`` is what its button sends, empty if it has no button."""

    name: str
    cells: tuple[str, ...]
    take: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Comparison:
    """Hold choices side by side; ``cells`` go under ``head``, ``reason`` explains the choice."""

    caption: str
    head: tuple[str, ...]
    choices: tuple[Choice, ...]
    reason: str = ""


def with_taken(given: MultiDict[str, str]) -> MultiDict[str, str]:
    """Return a sent form with the fields of the pressed choice."""
    changed = MultiDict(given)
    for name, value in parse_qsl(changed.pop("take", ""), keep_blank_values=True):
        changed[name] = value
    return changed


def written(comparison: Comparison) -> str:
    """Return a comparison as JSON, to be kept with the job that made it."""
    return json.dumps(asdict(comparison))


def read(text: str) -> Comparison:
    """Return the comparison that ``written`` wrote."""
    parts = json.loads(text)
    choices = [
        Choice(**{**fields, "cells": tuple(fields["cells"])}) for fields in parts.pop("choices")
    ]
    return Comparison(**{**parts, "head": tuple(parts["head"]), "choices": tuple(choices)})


def powers(view: PowersView, preview: PreviewView) -> Comparison:
    """Compare powers of generalized Gaussian noise by their expected largest error."""
    own = _POWERS.get(preview.mechanism, preview.p)
    return Comparison(
        f"Powers at epsilon {figure(view.epsilon)} (tier {view.tier})",
        ("expected largest error",),
        tuple(
            Choice(
                f"p = {choice.p:g}" + (" (recommended)" if choice.p == view.recommended else ""),
                (f"±{figure(choice.expected_maximum)}",),
                urlencode({"p": f"{choice.p:g}"}),
                choice.p == own,
            )
            for choice in view.choices
        ),
        view.reason,
    )


def structures(count_structures: Sequence[CountStructureView]) -> Comparison:
    """Compare independent noise for each count with counts protected together."""
    tiers = [tier_view.tier for tier_view in count_structures[0].tiers]
    return Comparison(
        "Ways to protect these counts at equal privacy",
        (*(f"margin at {tier}" for tier in tiers), "margin of the size", "numbers drawn"),
        tuple(
            Choice(
                _together(count_structure),
                (
                    *(f"±{figure(tier.error.half_width)}" for tier in count_structure.tiers),
                    _sizes(count_structure),
                    f"{count_structure.dimension:,}",
                ),
                "" if count_structure.known_size else urlencode(_fields(count_structure)),
                count_structure.asked,
            )
            for count_structure in count_structures
        ),
        "A public size costs nothing and gives the counts the least noise. Use it only if the size"
        " is already public knowledge.",
    )


def strategies(views: Sequence[StrategyView]) -> Comparison:
    """Compare the strategies for a workload by the errors of its answers."""
    tiers = [tier_view.tier for tier_view in views[0].tiers]
    heads = ("worst answer at", "standard deviation in the mean at")
    return Comparison(
        "Strategies for these answers at equal privacy",
        (*(f"{what} {tier}" for tier in tiers for what in heads), "numbers drawn"),
        tuple(
            Choice(
                "the strategy of the query" if view.strategy is None else view.strategy,
                (*(cell for tier in view.tiers for cell in _answered(tier)), f"{view.dimension:,}"),
                ""
                if view.strategy is None
                else urlencode({"strategy": view.strategy, "strategy_rows": ""}),
                view.requested,
            )
            for view in views
        ),
        "Every strategy answers the same queries. Which has the least error depends on them alone.",
    )


def _answered(tier: StrategyErrorView) -> tuple[str, str]:
    return f"±{figure(tier.largest.half_width)}", figure(tier.mean_deviation)


def mechanisms(previews: Iterable[tuple[str, PreviewView | str]], own_mechanism: str) -> Comparison:
    """Compare the same query under each mechanism; a text says why one is refused."""
    shown = list(previews)
    views = [view for _, view in shown if isinstance(view, PreviewView)]
    tiers = [tier.tier for tier in views[0].tiers] if views else []
    return Comparison(
        "Other noise mechanisms",
        tuple(f"{what} {tier}" for tier in tiers for what in ("margin at", "share of budget at")),
        tuple(
            Choice(
                _NAMES[name],
                _priced(view) if isinstance(view, PreviewView) else (view,),
                urlencode({"mechanism": name}) if isinstance(view, PreviewView) else "",
                name == own_mechanism,
            )
            for name, view in shown
        ),
    )


def trees(stream_preview: StreamPreviewView) -> Comparison:
    """Compare the structures that a stream may have, at the guarantees of its tiers."""
    tiers = [tier.tier for tier in stream_preview.tiers]
    return Comparison(
        f"Structures at equal privacy, over {stream_preview.judged_steps:,} elements",
        (*(f"typical error (largest), at {tier}" for tier in tiers), "numbers stored"),
        tuple(
            Choice(
                _tree(structure),
                (
                    *(
                        f"±{figure(e.root_mean_square)} (±{figure(e.largest)})"
                        for e in structure.errors
                    ),
                    f"{structure.kept:,}",
                ),
                "" if structure.request is None else urlencode(_tree_fields(structure.request)),
                structure.chosen,
            )
            for structure in stream_preview.structures
        ),
        "Typical and largest errors are standard deviations of a running total.",
    )


def noises(stream_preview: StreamPreviewView) -> Comparison:
    """Compare Laplace and Gaussian noise for a stream, each in the structure of ``auto``.

    A second Laplace tree is the one that ``auto`` passes over.
    """
    best = {noise.mechanism: noise for noise in reversed(stream_preview.noises)}
    now = stream_preview.mechanism, stream_preview.structure
    passed_over = [
        noise
        for noise in stream_preview.noises
        if best[noise.mechanism] is not noise and (noise.mechanism, noise.structure) == now
    ]
    return Comparison(
        "Noise at the same levels",
        tuple(
            head
            for tier in stream_preview.tiers
            for head in (f"typical error (largest), at {tier.tier}", "budget")
        ),
        tuple(
            Choice(
                f"{_NAMES[noise.mechanism]}, {_STRUCTURES.get(kind, _NAMES.get(kind, kind))}"
                f"{', with differences' if noise.structure.get('subtracting') else ''}",
                (noise.refusal,)
                if noise.refusal is not None
                else tuple(
                    cell
                    for e in noise.errors
                    for cell in (
                        f"±{figure(e.root_mean_square)} (±{figure(e.largest)})",
                        percent(e.charged_share or 0.0),
                    )
                ),
                ""
                if noise.refusal is not None
                else _noise_fields(noise, auto=best[noise.mechanism] is noise),
                noise in passed_over if passed_over else noise.chosen,
            )
            for noise in stream_preview.noises
            for kind in (str(noise.structure.get("kind", "refused")),)
        ),
        "Each is shown in the structure that is the best for it.",
    )


def _noise_fields(noise: StreamNoiseView, *, auto: bool) -> str:
    """Return what requests a stream with this noise: a tree that subtracts is only ``auto``'s."""
    structure = noise.structure
    own = {"structure": "auto", "k": ""}
    if not auto and structure.get("subtracting"):
        return ""
    if not auto:
        k = structure.get("k", 2)
        kind = "kary" if k > 2 else "binary"
        smooth = structure["kind"] == "smooth_binary"
        own = {"structure": "smooth_binary" if smooth else kind, "k": str(k) if k > 2 else ""}
    return urlencode({"mechanism": noise.mechanism, **own})


def _priced(preview: PreviewView) -> tuple[str, ...]:
    return tuple(
        cell
        for tier in preview.tiers
        for cell in (f"±{figure(tier.error.half_width)}", percent(tier.charge.share))
    )


def _together(count_structure: CountStructureView) -> str:
    if count_structure.structure is None:
        return "independent noise for each"
    if count_structure.known_size:
        return "together, if the size is public (enter it under counts over one population)"
    if count_structure.trade_off is None:
        return "together, without the size"
    return f"together, trade-off {figure(count_structure.trade_off)}"


def _sizes(count_structure: CountStructureView) -> str:
    errors = [tier.size_error for tier in count_structure.tiers if tier.size_error is not None]
    return ", ".join(f"±{figure(error.half_width)}" for error in errors) or "not released"


def _fields(count_structure: CountStructureView) -> dict[str, str]:
    if count_structure.structure is None:
        return {"kind": "statistic"}
    trade_off = count_structure.trade_off
    own, release_size = ("", "false") if trade_off is None else (repr(trade_off), "")
    return {"kind": "counts", "trade_off": own, "known_size": "", "release_size": release_size}


def _tree(structure: StructureView) -> str:
    name = _STRUCTURES.get(
        structure.structure, _NAMES.get(structure.structure, structure.structure)
    )
    words = [
        f"{word} {structure.settings[key]}" for key, word in _SETTINGS if key in structure.settings
    ]
    if structure.settings.get("subtracting"):
        words.append("with differences")
    marks = [
        word
        for word, holds in (
            ("least typical error", structure.least_mean),
            ("least largest error", structure.least_largest),
        )
        if holds
    ]
    praise = f" ({', '.join(marks)})" if marks else ""
    return ", ".join((name, *words)) + praise


def _tree_fields(request: Mapping[str, object]) -> dict[str, str]:
    fields = {"k": "", **request}
    return {name: "" if part is None else str(part) for name, part in fields.items()}
