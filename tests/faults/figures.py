"""Define how much a test does: little at every change, much every night; see README.md."""

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


def figure(name: str, default: int) -> int:
    """Return a size that the environment may raise."""
    return int(os.environ.get(name, default))


def amounts(name: str, *, few: int, many: int) -> "list[ParameterSet]":
    """Return a test's two sizes; ``name`` in the environment sets that of the nights."""
    return [
        pytest.param(few, id="few"),
        pytest.param(figure(name, many), id="many", marks=pytest.mark.nightly),
    ]


def parts(name: str, *, few: int, many: int, at_once: int) -> "list[ParameterSet]":
    """Return numbers to try: the first ``few``, and every night all, ``at_once`` in a test."""
    total = figure(name, many)
    found = [pytest.param(range(few), id="few")]
    for start in range(0, total, at_once):
        numbers = range(start, min(total, start + at_once))
        found.append(pytest.param(numbers, id=f"from {start}", marks=pytest.mark.nightly))
    return found
