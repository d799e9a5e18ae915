"""Test that documents nested deeper than 100 are refused before they are read.

``tests/unit/test_nesting.py`` compares the count with the server's.
"""

import pytest

from penstock_client._log.nesting import DEEPEST, depth, flat, shallow


def lists(levels: int) -> list[object]:
    nested: list[object] = []
    for _ in range(levels - 1):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("text", "levels"),
    [("[[]]", 2), ('{"[": "[[["}', 1), ("a = 1 # [[[", 0), ("[1], [[2]]", 2), ("", 0)],
)
def test_brackets_are_counted_outside_of_texts_and_comments(text: str, levels: int) -> None:
    assert depth(text) == levels


def test_the_limit_is_allowed_and_one_more_is_not() -> None:
    text, value = "[" * DEEPEST + "]" * DEEPEST, lists(DEEPEST)
    assert (shallow(text), flat(value)) == (text, value)
    with pytest.raises(ValueError, match="100 deep"):
        shallow(f"[{text}]")
    with pytest.raises(ValueError, match="100 deep"):
        flat([value])
