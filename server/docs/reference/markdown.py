"""Write text and tables as Markdown in which nothing is read as markup by accident."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|])")


_ENTITIES = {letter: f"&#{ord(letter)};" for letter in "&<>|*_`[]\\"}


def plain(text: str) -> str:
    """Return a text on one line, escaped, with its code between backticks kept as code."""
    parts = " ".join(text.split()).replace("``", "`").split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", "`".join(parts))
    return "".join(
        code(part) if index % 2 else _SPECIAL.sub(r"\\\1", part) for index, part in enumerate(parts)
    )


def code(text: str) -> str:
    """Return a text as code, also within a table."""
    return f"<code>{''.join(_ENTITIES.get(letter, letter) for letter in text)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def block(language: str, content: str) -> str:
    """Return a block of code, indented so that no content can end it; its language is said."""
    fence = "```"
    while fence in content:
        fence += "`"
    return f"{fence}{language}\n{content.rstrip()}\n{fence}\n"
