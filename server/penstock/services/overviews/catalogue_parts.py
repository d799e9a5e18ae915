"""List the datasets and the streams in a caller's sight that match a choice.

Marks are of queries alone, so that none of these match a choice of a mark.
"""

import json
from typing import Any, Final

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.sentences import definitions
from penstock.services.access.principals import Principal
from penstock.services.catalogue.choices import Choice
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.pagination import Page, Window
from penstock.services.schemas.streams import StreamView
from penstock.services.schemas.views import DatasetView
from penstock.services.schemas.wordings.wordings import StatisticWordingView, WordingView
from penstock.services.streams import streams

NOTHING: Final[Page[Any]] = Page([], None)


def chosen_datasets(
    server: Server, principal: Principal, window: Window, choice: Choice
) -> Page[DatasetView]:
    """List the datasets that match, in the order in which they were registered."""

    def is_chosen(row: Dataset, texts: WordingView) -> bool:
        sentence = definitions.of_dataset(json.loads(row.spec))
        return (
            choice.is_of(row.name)
            and choice.is_tagged(texts.tags)
            and choice.matches(texts.title, row.name, sentence, *texts.tags)
        )

    if choice.only:
        return NOTHING
    return datasets.listing(server, principal, window, is_chosen if choice.narrows else None)


def chosen_streams(
    server: Server, principal: Principal, window: Window, choice: Choice
) -> Page[StreamView]:
    """List the streams that match, in the order in which they were opened."""

    def is_chosen(row: Query, of: Dataset, sentence: str, texts: StatisticWordingView) -> bool:
        return (
            choice.is_of(of.name)
            and choice.is_tagged(texts.tags)
            and choice.matches(texts.title, row.name, of.name, sentence, *texts.tags)
        )

    if choice.only:
        return NOTHING
    only = is_chosen if choice.narrows else None
    return streams.listing(server, principal, window, chosen=only)
