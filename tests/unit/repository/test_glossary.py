"""Test that no identifier of server and client is a word that the glossary has retired."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.places import ROOT

ANSWERED = {
    "server/penstock/services/schemas/previews.py: asked",
    "server/penstock/services/schemas/previews.py: held",
}
"""Fields of answers, which other people's programs read by these names."""


def retired_words() -> frozenset[str]:
    """Return the words that the glossary in CONTRIBUTING.md retires."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    sentence = re.search(r"Retired as names,[^:]*:((?:\s*`\w+`,?)+)\.", text)
    assert sentence is not None
    return frozenset(re.findall(r"`(\w+)`", sentence[1]))


def identifiers(source: str) -> Iterator[str]:
    """Yield every name that a module defines, without the underscores around it."""
    for node in ast.walk(ast.parse(source)):
        name: str | None = None
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            name = node.name
        elif isinstance(node, ast.alias):
            name = node.asname
        if name is not None:
            yield name.strip("_")


def sources() -> Iterator[Path]:
    for folder in ("server/penstock", "clients/python/src"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_no_identifier_is_a_retired_word() -> None:
    words = retired_words()
    uses = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in identifiers(path.read_text())
        if name in words
    }
    assert uses == ANSWERED


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "def told(): pass",
        "def f(_asked): pass",
        "[one for one in x]",
        "x.held = 1",
        "import a as said",
        "class standing: pass",
    ],
)
def test_a_retired_word_is_found_wherever_it_names_something(source: str) -> None:
    assert retired_words().intersection(identifiers(source))


def test_the_list_of_retired_words_is_read() -> None:
    assert {"one", "found", "tallies"} <= retired_words()
