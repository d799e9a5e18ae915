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
    ``owners`` the users who are responsible.
    """

    title: str = ""
    description: str = ""
    unit: str = ""
    tags: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: _NONE, hash=False)
    owners: tuple[str, ...] = ()

    @classmethod
    def read(cls, fields: Fields) -> Self:
        labels = fields.child_or_none("labels")
        plain = {name: fields.text_or_none(name) or "" for name in ("title", "description", "unit")}
        lists = {
            name: fields.texts(name) if name in fields.whole else () for name in ("tags", "owners")
        }
        return cls(
            **plain,
            tags=lists["tags"],
            labels=_NONE
            if labels is None
            else MappingProxyType({code: labels.text(code) for code in labels.whole}),
            owners=lists["owners"],
        )
