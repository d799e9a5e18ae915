"""Encode the values of columns for the HMACs of their rows."""

from collections.abc import Callable
from datetime import UTC, datetime
from operator import index
from typing import Any

from sqlalchemy import Boolean, Float, Integer, LargeBinary, String
from sqlalchemy.types import TypeDecorator, TypeEngine

from penstock.persistence.tables.columns import Identifier, Moment


def encoder(kind: TypeEngine[Any]) -> Callable[[Any], bytes]:
    """Return the encoder of a column type.

    It gives the same bytes before and after storing, on every database.  Raises ``TypeError`` for
    a type that has none.
    """
    plain = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    if isinstance(kind, Moment):
        return _moment
    if isinstance(kind, Identifier) or isinstance(plain, Integer):
        return lambda value: b"%d" % index(value)
    if isinstance(plain, Boolean):
        return lambda value: b"%d" % bool(value)
    if isinstance(plain, Float):
        # SQLite has no negative zero.
        return lambda value: (value + 0.0).hex().encode()
    if isinstance(plain, LargeBinary):
        return bytes
    if isinstance(plain, String):
        return str.encode
    raise TypeError(f"there is no encoder to authenticate a column of the type {kind}")


def _moment(value: datetime) -> bytes:
    moment = value if value.tzinfo is UTC else value.astimezone(UTC)
    return moment.isoformat().encode()
