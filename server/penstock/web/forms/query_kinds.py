"""Define the kinds of query that a form builds, and the datasets that each fits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.services.schemas.views import DatasetView
from penstock.web.forms import query_form
from penstock.web.forms.query_form import Given

VECTOR = "vector"


@dataclass(frozen=True)
class FormKind:
    """Represent a kind of query; ``reads`` is True if the server computes it from a file."""

    name: str
    title: str
    sentence: str
    spec_of: Callable[[Given, DatasetView], dict[str, Any]]
    reads: bool = True

    def fits(self, dataset: DatasetView) -> bool:
        """Return True if a dataset's source fits this kind; the model checks everything else."""
        return (dataset.source.get("engine") != VECTOR) == self.reads


KINDS = (
    FormKind(
        "statistic",
        "A statistic",
        "A count, sum, mean, histogram, quantile, correlation or regression, in all or by group.",
        query_form.statistic,
    ),
    FormKind(
        "counts",
        "Counts over one population",
        "Several counts of the same people, where one person may be in several counts: together"
        " they need less noise than separately.",
        query_form.counts,
    ),
    FormKind(
        "sparse",
        "A sparse histogram",
        "Counts over more possible keys (addresses, products, words) than can be listed; keys with"
        " large counts are reported.",
        query_form.sparse,
    ),
    FormKind(
        "sql",
        "In SQL",
        "Sums, means, counts, variances, quantiles or a regression, as one SELECT.",
        query_form.statement,
    ),
    FormKind(
        VECTOR,
        "Numbers of your own",
        "Exact numbers that you type or paste; they are not stored, and the server cannot check"
        " how much one person changes them.",
        query_form.vector,
        reads=False,
    ),
)
COMPUTED = tuple(kind for kind in KINDS if kind.reads)
"""The kinds that analysts ask for: the server computes them, and checks what one person changes."""


def kind_of(given: Mapping[str, str], kinds: Sequence[FormKind] = KINDS) -> FormKind:
    """Return the chosen one of ``kinds``; the first, a statistic, if none of them is chosen."""
    chosen = given.get("kind", "")
    return next((kind for kind in kinds if kind.name == chosen), kinds[0])
