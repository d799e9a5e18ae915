"""Count how deep brackets nest in JSON and TOML, before a reader recurses into them.

Python's readers recurse, and raise ``RecursionError`` at about a thousand calls.  That can be
caught, but finalizers that the garbage collector runs at that depth fail as well, and their work
is lost: removing files, closing connections, clearing weak references.

The server counts in the same way; neither imports the other, and one test checks both.
"""

import re
from itertools import accumulate
from typing import Final, TypeVar

T = TypeVar("T")

DEEPEST: Final = 100
"""The deepest nesting that is read, more than any document of a Penstock server has."""

# A text that is not closed matches up to the end: no reader gets beyond it, and matching takes
# linear time.
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
    """Return how deep brackets nest in ``text``, JSON or TOML, outside of strings and comments.

    The count is correct up to the first syntax error, where every reader stops; beyond that it
    has no meaning.
    """
    brackets = _BRACKETS.findall(_TEXTS.sub("", text))
    return max(accumulate(_STEP[bracket] for bracket in brackets), default=0)


def shallow(text: str) -> str:
    """Return ``text`` unchanged.  Raises ``ValueError`` if it nests deeper than ``DEEPEST``."""
    if text.count("[") + text.count("{") > DEEPEST and depth(text) > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    return text


def flat(value: T) -> T:
    """Return ``value`` unchanged.  Raises ``ValueError`` if it nests deeper than ``DEEPEST``.

    TOML nests without brackets too: each dot of ``a.b.c = 1`` adds one object.
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
