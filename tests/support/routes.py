"""Compile the routes of the application once a process, however many applications tests make.

Werkzeug writes two functions for every route of every application, which is four fifths of
what it takes to make one.  The functions hold nothing of the application: they are given the
route that they are for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from werkzeug.routing import Rule

_compile = Rule._compile_builder
_compiled: dict[object, Callable[..., Any]] = {}


@contextmanager
def compiled_once() -> Iterator[None]:
    """Take the functions of routes that were compiled before, inside the block."""
    with mock.patch.object(Rule, "_compile_builder", _remembered):
        yield


def _remembered(rule: Rule, append_unknown: bool = True) -> Callable[..., Any]:
    if rule.defaults:  # these are written into the functions
        return _compile(rule, append_unknown)
    key = (rule.rule, tuple(rule._trace), append_unknown)
    if key not in _compiled:
        _compiled[key] = _compile(rule, append_unknown)
    return _compiled[key]
