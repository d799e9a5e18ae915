"""Represent the texts that people wrote for readers about a dataset, query or stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from penstock_client._http.fields import Fields

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Wording:
    """Hold titles and other texts; all are empty until an admin writes them.

    ``unit`` is what one unit of a measured number is, ``labels`` are texts for keys by their code,
    ``owners`` the users who are responsible.  ``shown_labels`` are those that hold for a query or
    stream: its own, or those of its dataset if it has none.
    """

    title: str = ""
    description: str = ""
    unit: str = ""
    tags: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: _NONE, hash=False)
    owners: tuple[str, ...] = ()
    shown_labels: Mapping[str, str] = field(default_factory=lambda: _NONE, hash=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        labels = _labels(fields, "labels")
        plain = {name: fields.text_or_none(name) or "" for name in ("title", "description", "unit")}
        lists = {
            name: fields.texts(name) if name in fields.whole else () for name in ("tags", "owners")
        }
        return cls(
            **plain,
            tags=lists["tags"],
            labels=labels,
            owners=lists["owners"],
            shown_labels=_labels(fields, "shown_labels") or labels,
        )


def _labels(fields: Fields, name: str) -> Mapping[str, str]:
    labels = fields.child_or_none(name)
    if labels is None:
        return _NONE
    return MappingProxyType({code: labels.text(code) for code in labels.whole})
