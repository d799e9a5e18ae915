"""Turn a choice of the catalogue into links to other choices, each an address of its own."""

from dataclasses import asdict, dataclass, replace
from typing import Final

from penstock.services.catalogue.choices import SORTS, Choice

FILTERS: Final = {"": "All", "mine": "Mine", "new": "New", "retired": "Retired"}


@dataclass(frozen=True)
class Link:
    """Hold a link to a choice, and whether it is the present one; fields are in the address.

    A link that ``removes`` a filter leads to what is there without it.
    """

    title: str
    fields: dict[str, str]
    is_current: bool = False
    removes: bool = False


def orders(choice: Choice) -> list[Link]:
    """Return links to the same queries in each order."""
    return [
        Link(order, fields(replace(choice, sort=order)), order == choice.sort) for order in SORTS
    ]


def chips(choice: Choice) -> list[Link]:
    """Return links to the filters by marks, and to what is there without a dataset or a tag."""
    links = [
        Link(title, fields(replace(choice, only=only)), only == choice.only)
        for only, title in FILTERS.items()
    ]
    for name in ("dataset", "tag"):
        if chosen := getattr(choice, name):
            rest = fields(replace(choice, **{name: ""}))
            links.append(Link(f"{name.capitalize()} {chosen}", rest, is_current=True, removes=True))
    return links


def fields(choice: Choice) -> dict[str, str]:
    """Return what an address says of a choice, without what goes without saying."""
    usual = asdict(Choice())
    return {name: text for name, text in asdict(choice).items() if text != usual[name]}
