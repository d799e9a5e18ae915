"""Write the registered spec of a query in words."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.figures import percent
from penstock.sentences import phrases

_ELSEWHERE = frozenset(
    {"name", "dataset", "mechanism", "levels", "share", "keys", "max_levels", "sensitivity", "p"}
)
_STRUCTURES = {
    "sparse_histogram": "only keys that are found in the data, and a few false ones",
    "correlated": "counts protected together, with less noise than each separately",
}


def question(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each part of a spec as a label and a phrase.

    A part without a phrase is shown as it was registered.
    """
    writers: Mapping[str, tuple[str, Callable[[Any], str]]] = {
        "aggregate": ("Statistic", phrases.aggregate),
        "derived": ("Derived columns", phrases.derived),
        "group_by": ("Group by", phrases.groups),
        "where": ("Rows where", phrases.conditions),
        "contribution": ("Contribution of one privacy unit", _contribution),
        "domain": ("Possible keys", phrases.domain),
        "structure": ("Structure", lambda name: _STRUCTURES[name]),
    }
    lines = []
    for name, part in spec.items():
        if name in _ELSEWHERE or part in (None, [], {}):
            continue
        label, words = writers.get(name, (name.replace("_", " ").capitalize(), _plain))
        try:
            lines.append((label, words(part)))
        except (AttributeError, KeyError, TypeError, ValueError):
            lines.append((label, _plain(part)))
    return lines


def _plain(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)


def _contribution(part: Mapping[str, Any]) -> str:
    return ", ".join(phrases.shares(part))


def request_of(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each part of a query that is not registered yet, its noise and levels among them."""
    lines = question(spec)
    for name in ("mechanism", "p", "levels", "share", "max_levels", "sensitivity"):
        part = spec.get(name)
        if part in (None, [], {}):
            continue
        words = _LEVELS.get(name, _plain)
        try:
            lines.append((_LABELS.get(name, name.capitalize()), words(part)))
        except (AttributeError, TypeError, ValueError):
            lines.append((_LABELS.get(name, name.capitalize()), _plain(part)))
    return lines


def source_of(source: Mapping[str, Any]) -> str:
    """Return where data are, in words."""
    engine, connection = source.get("engine"), source.get("connection")
    if "table" in source:
        return f"the view {source['table']}, read by {engine} under the connection {connection}"
    under = f", read under the connection {connection}" if connection else ""
    return f"the file {source.get('uri')}{under}"


def _levels(part: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join(f"{tier}: {_level(level)}" for tier, level in part.items())


def _level(level: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in level.items())


_LABELS = {"mechanism": "Noise", "p": "Power of the noise", "max_levels": "Levels (at most)"}
_LEVELS: Mapping[str, Callable[[Any], str]] = {
    "mechanism": lambda name: str(name).replace("_", " "),
    "levels": _levels,
    "share": lambda share: f"{percent(float(share))} of every tier's budget",
}
