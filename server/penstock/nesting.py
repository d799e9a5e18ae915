"""Count how deep brackets nest in JSON and TOML, before a reader recurses into them.

Python's readers recurse, and end in ``RecursionError`` at about a thousand calls.  That can
be caught, but what the collector of garbage finalizes down there fails as well and is lost:
the handlers that remove files, close connections and forget weak references.
"""

import re
from itertools import accumulate
from typing import Final, TypeVar

T = TypeVar("T")

DEEPEST: Final = 100
"""More than any document of ours nests."""

# What is not closed goes on to the end: no reader gets beyond it, and this stays linear.
_TEXTS: Final = re.compile(
    r'"""(?:\\.|(?!""")[^\\])*+"{0,5}+'
    r"|'''(?:(?!''').)*+'{0,5}+"
    r'|"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
    r"|'[^'\n]*+'?+"
    r"|#[^\n]*+",
    re.DOTALL,
)
_BRACKETS: Final = re.compile(r"[\[\]{}]")
_STEP: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def depth(text: str) -> int:
    """Count how deep brackets nest in ``text``, JSON or TOML, outside strings and comments.

    Right up to the first error of syntax, where every reader stops; beyond it no number
    that means anything.
    """
    brackets = _BRACKETS.findall(_TEXTS.sub("", text))
    return max(accumulate(_STEP[bracket] for bracket in brackets), default=0)


def shallow(text: str) -> str:
    """Return ``text`` unchanged.  Raises ``ValueError`` if it nests more than ``DEEPEST`` deep."""
    if text.count("[") + text.count("{") > DEEPEST and depth(text) > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    return text


def flat(value: T) -> T:
    """Return ``value`` unchanged.  Raises ``ValueError`` if it nests more than ``DEEPEST`` deep.

    For what TOML nests without a bracket: each dot of ``a.b.c = 1`` is one object more.
    """
    level: list[dict[str, object] | list[object]] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise ValueError(f"nested more than {DEEPEST} deep")
    return value
