"""Provide tests that are named somewhere, read without running them.

Do they exist, and when do they run?

What is read is what stands in the files: the marker ``nightly`` on a function, on its module, or
on all of its parameters.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

NIGHTLY: Final = "nightly"


def ordinary(path: Path) -> Mapping[str, bool]:
    """Return the tests of a file, each with whether the ordinary suite runs some case of it.

    Empty where there is no such file.
    """
    return _ordinary(path.read_text()) if path.is_file() else {}


@cache
def _ordinary(text: str) -> Mapping[str, bool]:
    tree = ast.parse(text)
    whole = any(_is_nightly(mark) for mark in _marks_of(tree))
    return {
        one.name: not (whole or any(map(_makes_nightly, one.decorator_list)))
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")
    }


def _marks_of(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the markers of a module."""
    for one in tree.body:
        if isinstance(one, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in one.targets
        ):
            yield from _each(one.value)


def _makes_nightly(decorator: ast.expr) -> bool:
    """Return whether a decorator leaves the ordinary suite no case."""
    if _is_nightly(decorator):
        return True
    if not isinstance(decorator, ast.Call) or _name(decorator.func) != "parametrize":
        return False
    values = [one.value for one in decorator.keywords if one.arg == "argvalues"]
    values += decorator.args[1:2]
    return any(bool(cases) and all(map(_marked, cases)) for cases in map(_cases, values))


def _cases(value: ast.expr) -> list[ast.expr]:
    """Return what stands for cases; what is worked out elsewhere counts as ordinary."""
    if isinstance(value, ast.Starred):
        return _cases(value.value)
    if isinstance(value, ast.List | ast.Tuple):
        return [case for one in value.elts for case in (_cases(one) or [one])]
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return [value.elt]
    return []


def _marked(case: ast.expr) -> bool:
    """Return whether it is a ``pytest.param`` that is nightly."""
    given = case.keywords if isinstance(case, ast.Call) else []
    marks = [mark for one in given if one.arg == "marks" for mark in _each(one.value)]
    return any(map(_is_nightly, marks))


def _each(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.List | ast.Tuple):
        yield from value.elts
    else:
        yield value


def _is_nightly(mark: ast.expr) -> bool:
    return _name(mark.func if isinstance(mark, ast.Call) else mark) == NIGHTLY


def _name(one: ast.expr) -> str:
    if isinstance(one, ast.Attribute):
        return one.attr
    return one.id if isinstance(one, ast.Name) else ""
