"""Make once a process what every server of a test would make again, and what holds nothing of it.

The routes of an application, its stylesheets compressed, and the text of each statement are
the same whatever home is behind them: more than half of what a small test takes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import mock

import flask
from sqlalchemy import Engine, create_engine
from werkzeug.routing import Map, Rule, RuleFactory

from penstock.persistence import sqlite
from penstock.web.http import blueprint, static_files

STATEMENTS = 5_000
"""How many statements are kept, so that none is dropped and written again."""

_settled: dict[object, Map] = {}


def _described(rule: Rule) -> object:
    automatic = getattr(rule, "provide_automatic_options", None)
    methods = frozenset(rule.methods or ())
    return rule.rule, rule.endpoint, methods, automatic, repr(rule.defaults), rule.strict_slashes


class _Routes(Map):
    """Map routes by the tree of another map that has the same rules.

    Rules are collected until the first question; then either this is the first map of its
    kind, or all that is asked of it is answered by the first.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._waiting: list[Rule] = []
        super().__init__(*arguments, **named)

    def add(self, rulefactory: RuleFactory) -> None:
        if not self._remap:
            raise RuntimeError("a route comes after the first request")
        self._waiting.extend(rulefactory.get_rules(self))

    def update(self) -> None:
        if not self._waiting:
            return super().update()
        waiting, self._waiting = self._waiting, []
        key = (self.merge_slashes, self.host_matching, *map(_described, waiting))
        first = _settled.setdefault(key, self)
        if first is not self:
            self._matcher, self._remap = first._matcher, False
            self._rules_by_endpoint = first._rules_by_endpoint
            return None
        for rule in waiting:
            super().add(rule)
        return super().update()


@cache
def _assets() -> static_files.Assets:
    return static_files.Assets()


@contextmanager
def assembled() -> Iterator[None]:
    """Take the routes and assets of an application that was made before, inside the block."""
    with (
        mock.patch.object(flask.Flask, "url_map_class", _Routes),
        mock.patch.object(blueprint, "Assets", _assets),
    ):
        yield


@cache
def _first() -> Engine:
    """Return an engine that was connected once, so that its dialect knows what it speaks to."""
    engine = create_engine("sqlite://", query_cache_size=STATEMENTS)
    with engine.connect():
        return engine


def _sharing(make: Callable[..., Engine]) -> Callable[..., Engine]:
    def made(*arguments: Any, **named: Any) -> Engine:
        engine = make(*arguments, **named)
        engine.dialect, engine._compiled_cache = _first().dialect, _first()._compiled_cache
        return engine

    return made


@contextmanager
def statements_kept() -> Iterator[None]:
    """Let databases on SQLite that are opened inside the block share the text of statements.

    Without this each engine writes every statement again, which is the larger part of what a
    server does that is asked a few things.
    """
    with mock.patch.object(sqlite, "create_engine", _sharing(create_engine)):
        yield


@contextmanager
def statements_anew() -> Iterator[None]:
    """Undo ``statements_kept`` for databases that are opened inside the block.

    A kept statement holds what it was first run with: whoever looks for what is kept of a
    request opens its home like this.
    """
    with mock.patch.object(sqlite, "create_engine", create_engine):
        yield
