"""The kinds of query that a form builds: what each is for, and over which data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.services.schemas.views import DatasetView
from penstock.web.forms import query_form
from penstock.web.forms.query_form import Given

VECTOR = "vector"


@dataclass(frozen=True)
class Kind:
    """``reads`` says whether the server computes it from a file that it reads."""

    name: str
    title: str
    sentence: str
    wanted: Callable[[Given, DatasetView], dict[str, Any]]
    reads: bool = True

    def fits(self, dataset: DatasetView) -> bool:
        """Whether a dataset can be asked this; of what else it takes its model judges."""
        return (dataset.source.get("engine") != VECTOR) == self.reads


KINDS = (
    Kind(
        "statistic",
        "A statistic",
        "A count, a sum, a mean or a histogram: one number, or one for each group.",
        query_form.statistic,
    ),
    Kind(
        "counts",
        "Counts over one population",
        "Several counts of the same people, of whom each may be in several: together they need"
        " less noise than each by itself.",
        query_form.counts,
    ),
    Kind(
        "sparse",
        "A sparse histogram",
        "Counts over so many possible keys (addresses, products, words) that nobody can list"
        " them: those that stand out are reported.",
        query_form.sparse,
    ),
    Kind(
        VECTOR,
        "Numbers of your own",
        "Exact numbers that you type or paste; they are not kept, and the server takes your word"
        " for how much one person changes them.",
        query_form.vector,
        reads=False,
    ),
)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}


def kind_of(given: Mapping[str, str]) -> Kind:
    """The kind that is chosen; a statistic where none is."""
    return BY_NAME.get(given.get("kind", ""), KINDS[0])
