"""Describe the texts that people write about what is registered, as sent and as answered.

They are for readers alone: no text of them is part of a spec or its hash, and nothing is decided or
computed from them.
"""

import unicodedata
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.spec_fields import Name, Spec, Text, folded

LONGEST_TITLE: Final = 200
LONGEST_DESCRIPTION: Final = 4000
LONGEST_UNIT: Final = 64
LONGEST_TAG: Final = 40
LONGEST_LABEL: Final = 200
MOST_TAGS: Final = 20
MOST_OWNERS: Final = 20
MOST_LABELS: Final = 1000
LONGEST_LABELS: Final = 50_000
"""The most characters of all codes and labels together."""

_REVERSALS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that show the text behind them in another order."""


def _refuse_unprintable(text: str, lines: bool) -> None:
    kept = text.replace("\n", "") if lines else text
    refused = {"Cc", "Cs", "Zl", "Zp"}
    if any(unicodedata.category(sign) in refused or sign in _REVERSALS for sign in kept):
        raise PydanticCustomError(
            "wording",
            "A text here contains no control characters and none that reverse what is read."
            if lines
            else "A text here is one line without control characters, and without those that"
            " reverse what is read.",
        )


def _cut(text: str, most: int, lines: bool = False) -> str:
    normal = unicodedata.normalize("NFC", text.replace("\r\n", "\n") if lines else text).strip()
    if len(normal) > most:
        raise PydanticCustomError(
            "wording",
            "A text here has at most {most} characters, not {length}.",
            {"most": most, "length": len(normal)},
        )
    _refuse_unprintable(normal, lines)
    return normal


def _title(value: str) -> str:
    return _cut(value, LONGEST_TITLE)


def _description(value: str) -> str:
    return _cut(value, LONGEST_DESCRIPTION, lines=True)


def _unit(value: str) -> str:
    return _cut(value, LONGEST_UNIT)


def _tag(value: str) -> str:
    tag = _cut(value, LONGEST_TAG)
    if not tag or "," in tag:
        raise PydanticCustomError(
            "wording", "A tag has 1 to {most} characters and no comma.", {"most": LONGEST_TAG}
        )
    return tag


def _label(value: str) -> str:
    label = _cut(value, LONGEST_LABEL)
    if not label:
        raise PydanticCustomError(
            "wording", "The label is empty: leave its code out to show the code itself."
        )
    return label


def _each_once(names: list[str]) -> list[str]:
    if len({folded(name) for name in names}) < len(names):
        raise PydanticCustomError("wording", "An entry is listed twice; keep one of the two.")
    return names


def _not_too_long(labels: dict[str, str]) -> dict[str, str]:
    length = sum(len(code) + len(label) for code, label in labels.items())
    if length > LONGEST_LABELS:
        raise PydanticCustomError(
            "wording",
            "Codes and labels have at most {most} characters together, not {length}.",
            {"most": LONGEST_LABELS, "length": length},
        )
    return labels


Title = Annotated[str, AfterValidator(_title)]
Description = Annotated[str, AfterValidator(_description)]
Unit = Annotated[str, AfterValidator(_unit)]
Tag = Annotated[str, AfterValidator(_tag)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS), AfterValidator(_each_once)]
Label = Annotated[str, AfterValidator(_label)]
Labels = Annotated[dict[Text, Label], Field(max_length=MOST_LABELS), AfterValidator(_not_too_long)]
Owners = Annotated[list[Name], Field(max_length=MOST_OWNERS), AfterValidator(_each_once)]


class WordingSpec(Spec):
    """Represent the texts for readers of what a request is about; omitted ones stay as they are.

    ``title`` is shown large beside the name, ``unit`` is what one unit of a measured number is, for
    example "days".  ``labels`` are shown beside keys, each by its code, and ``owners`` are the
    users who are responsible.  Given, a list or the labels replace all of before.
    """

    title: Annotated[Title | None, Field(exclude=True)] = None
    description: Annotated[Description | None, Field(exclude=True)] = None
    unit: Annotated[Unit | None, Field(exclude=True)] = None
    tags: Annotated[Tags | None, Field(exclude=True)] = None
    labels: Annotated[Labels | None, Field(exclude=True)] = None
    owners: Annotated[Owners | None, Field(exclude=True)] = None


FIELDS: Final = tuple(WordingSpec.model_fields)
"""The names of the texts, in the order in which they are shown."""


def texts_of(request: BaseModel) -> dict[str, Any]:
    """Return the texts that a request gives, by their fields; none that it leaves out."""
    given = {name: getattr(request, name, None) for name in FIELDS}
    return {name: value for name, value in given.items() if value is not None}


class WordingChange(WordingSpec):
    """Represent other texts for readers of a query or stream, without a change of its levels."""

    @model_validator(mode="before")
    @classmethod
    def _require_texts_alone(cls, sent: object) -> object:
        if isinstance(sent, dict) and "levels" in sent:
            raise PydanticCustomError(
                "wording",
                "Change levels, and titles or other texts, each by a request of its own.",
                {"field": "levels"},
            )
        return sent


def is_wording(value: object) -> bool:
    """Return True if what was sent changes a text for readers."""
    if isinstance(value, dict):
        return bool(value.keys() & set(FIELDS))
    return isinstance(value, WordingChange)


@dataclass(frozen=True, kw_only=True)
class WordingView:
    """Hold the texts that people wrote for readers; all of them are empty until somebody does.

    ``unit`` is what one unit of a measured number is, ``labels`` are texts for keys by their code,
    ``owners`` the users who are responsible.
    """

    title: str = ""
    description: str = ""
    unit: str = ""
    tags: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    owners: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class StatisticWordingView(WordingView):
    """Hold the texts of a query or stream as written, and the labels that are shown beside keys.

    ``shown_labels`` are ``labels``, or those of the dataset where there are none.
    """

    shown_labels: dict[str, str] = field(default_factory=dict)
