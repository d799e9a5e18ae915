"""Count how deep JSON, TOML and YAML nest, before a reader recurses into them.

Python's readers recurse, and end in ``RecursionError`` at about a thousand calls.  That can be
caught, but finalizers that the garbage collector runs at that depth fail as well and are lost:
handlers that remove files, close connections and drop weak references.
"""

import re
from itertools import accumulate
from typing import Final, TypeVar

T = TypeVar("T")

DEEPEST: Final = 100
"""More than any of our documents nests."""

# An unclosed string goes to the end: no reader gets beyond it, and this stays linear.
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

    The result is right up to the first syntax error, where every reader stops, and meaningless
    after it.
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

    It catches what TOML nests without a bracket: each dot of ``a.b.c = 1`` is one more object.
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


def yaml_depth(raw: bytes | str) -> int:
    """Return how deep YAML nests, with aliases expanded; stop counting beyond ``DEEPEST``.

    Raises what ``yaml`` raises.  An alias inside its own anchor counts 0: YAML makes of it a
    value that contains itself, without recursion.
    """
    import yaml  # imported late: most processes read no YAML

    anchors: dict[str, int] = {}
    # The collections around the event: the anchor of each, and its height so far.
    enclosing: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(raw, Loader=yaml.SafeLoader):
        height = 0
        if isinstance(event, yaml.CollectionStartEvent):
            enclosing.append((event.anchor, 0))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, inner = enclosing.pop()
            height = inner + 1
            if anchor is not None:
                anchors[anchor] = height
        elif isinstance(event, yaml.AliasEvent):
            height = anchors.get(event.anchor or "", 0)
        enclosing[-1] = enclosing[-1][0], max(enclosing[-1][1], height)
        if len(enclosing) + height > DEEPEST + 1:
            return len(enclosing) + height - 1
    return enclosing[0][1]
