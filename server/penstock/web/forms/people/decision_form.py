"""Read decisions on requests: a comment, and the levels and the name that replace those requested.

Each level is typed in the unit in which it was requested.  A field that a form does not have, or
that was left as it was, changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.spec_fields import folded
from penstock.web.forms.form_input import filled, number

EPSILON = "epsilon"
CONFIDENCE = "confidence"


@dataclass(frozen=True)
class LevelField:
    """Hold the field of a tier's level, as it was requested: empty for a tier without a level."""

    tier: str
    unit: str
    value: str

    @property
    def name(self) -> str:
        """Return the name of the field."""
        return f"level {self.tier}"

    @property
    def label(self) -> str:
        """Return the label of the field."""
        words = "margin of error" if self.unit == "half_width" else self.unit.replace("_", " ")
        return f"{words.capitalize()} for {self.tier}"


def level_fields(spec: Mapping[str, Any], tiers: Sequence[str]) -> list[LevelField]:
    """Return the fields for the levels of a request, in the order of ``tiers``."""
    levels: Mapping[str, Mapping[str, object]] = spec.get("levels") or {}
    by_tier = {folded(tier): (tier, level) for tier, level in levels.items()}
    usual = next((_unit(level) for level in levels.values()), EPSILON)
    known = {folded(tier) for tier in tiers}
    fields = []
    for tier in [*tiers, *(tier for tier in levels if folded(tier) not in known)]:
        spelled, level = by_tier.get(folded(tier), (tier, {}))
        unit = _unit(level) if level else usual
        fields.append(LevelField(spelled, unit, str(level.get(unit, ""))))
    return fields


def decision(
    given: Mapping[str, str], outcome: str, spec: Mapping[str, Any], tiers: Sequence[str]
) -> dict[str, Any]:
    """Return what a form decides; its model checks it."""
    body: dict[str, Any] = {
        "decision": outcome,
        **filled(comment=given.get("comment", "").strip()),
    }
    if outcome != "approve":
        return body
    name = given.get("name", spec["name"]).strip()
    levels = _levels(given, spec, tiers)
    return {
        **body,
        **({} if name == spec["name"] else {"name": name}),
        **({} if levels == _numbers(spec.get("levels") or {}) else {"levels": levels}),
    }


def changed(
    given: Mapping[str, str], spec: Mapping[str, Any], tiers: Sequence[str]
) -> dict[str, str]:
    """Return the fields that differ from what was requested, to be typed again."""
    before = {field.name: field.value for field in level_fields(spec, tiers)}
    before["name"] = spec["name"]
    return {name: given[name] for name, text in before.items() if given.get(name, text) != text}


def _levels(
    given: Mapping[str, str], spec: Mapping[str, Any], tiers: Sequence[str]
) -> dict[str, dict[str, object]]:
    levels: dict[str, dict[str, object]] = {}
    before = {folded(tier): level for tier, level in (spec.get("levels") or {}).items()}
    for field in level_fields(spec, tiers):
        value = number(given.get(field.name, field.value))
        if value is None:
            continue
        sure = before.get(folded(field.tier), {}).get(CONFIDENCE)
        levels[field.tier] = {field.unit: value, **filled(**{CONFIDENCE: sure})}
    return levels


def _numbers(levels: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """Return requested levels as a form that nobody changed would give them."""
    return {
        tier: {name: number(str(value)) for name, value in level.items()}
        for tier, level in levels.items()
    }


def _unit(level: Mapping[str, object]) -> str:
    return next((name for name in level if name != CONFIDENCE), EPSILON)
