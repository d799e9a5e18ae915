"""Write columns, values and lists as words, so that what differs reads differently."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from penstock.figures import printable

LONGEST_PHRASE: Final = 600
"""The most characters of a phrase before it is shortened."""

_SHORTENED: Final = 400
_DIGITS: Final = 12

_PLAIN: Final = re.compile(r"[^\W\d]\w*|\d{4}-\d\d-\d\d")
_NOUN: Final = re.compile(r"[a-z]+(_[a-z]+)*")
_SUFFIX: Final = re.compile(r"_?(id|ID|Id|key|number|no|uuid|hash)$")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_GRAMMAR: Final = frozenset(
    {"all", "and", "any", "at", "between", "by", "cut", "each", "else", "false", "for", "from"}
    | {"if", "in", "is", "missing", "nan", "none", "not", "null", "of", "on", "or", "rounded"}
    | {"to", "true", "values", "where", "with"}
)
"""Words of the sentences themselves: a column or a value like these stands in quotation marks."""

_PLURALS: Final = {"person": "people", "child": "children", "man": "men", "woman": "women"}

_IS_PLURAL: Final = re.compile(r"[^aious]s$")
"""The end of ``visits``, and not of ``bus`` or ``class``."""


def word(text: str) -> str:
    """Return a name or a text bare if it is one plain word, else in quotation marks."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _GRAMMAR:
        return printable(text)
    return printable(json.dumps(text, ensure_ascii=False))


def value(cell: object) -> str:
    """Return one value: a text as ``word`` does, a number or a truth value as in JSON."""
    return word(cell) if isinstance(cell, str) else json.dumps(cell)


def bounded(phrase: str) -> str:
    """Return a phrase unchanged unless it is long, else its beginning and digits of its SHA-256."""
    if len(phrase) <= LONGEST_PHRASE:
        return phrase
    digits = hashlib.sha256(phrase.encode()).hexdigest()[:_DIGITS]
    return f"{phrase[:_SHORTENED]}... ({len(phrase):,} characters with the SHA-256 {digits}...)"


def plural(noun: str) -> str:
    """Return the plural of an English noun, which may be one; of several words, of the last one."""
    *before, last = noun.split(" ")
    if _IS_PLURAL.search(last):
        return noun
    if last in _PLURALS:
        last = _PLURALS[last]
    elif last.endswith("y") and last[-2:-1] not in {"", *"aeiou"}:
        last = f"{last[:-1]}ies"
    elif last.endswith(("s", "x", "ch", "sh", "z")):
        last = f"{last}es"
    else:
        last = f"{last}s"
    return " ".join((*before, last))


def noun_of_column(name: str) -> str | None:
    """Return the noun that a column's name is, without ``_id`` and the like; None if it is none."""
    bare = _HUMP.sub("_", _SUFFIX.sub("", name)).lower()
    return bare.replace("_", " ") if _NOUN.fullmatch(bare) else None


def noun_of_unit(unit: Mapping[str, Any] | str | None) -> str:
    """Return what a dataset protects, as a noun: ``person`` for the column ``person_id``."""
    if unit == "event":
        return "event"
    if isinstance(unit, Mapping) and "rows" in unit:
        return "row"
    named = noun_of_column(str(unit["column"])) if isinstance(unit, Mapping) else None
    return named or "privacy unit"
