"""Test the sensitivity of counts over too many keys to list: no person exceeds the derived norms.

Random files are queried with and without all rows of one person, or with another person in their
place.  To show that the test can fail, the same measurement is compared with norms that are too
small.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.thorough import by_count
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, prepared, stated

from penstock.connectors.planning.prepare import PreparedQuery, answer, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import DatasetSpec
from penstock.structures.sparse_histogram import parted

NAMES = ["person", "book", "page"]
COLUMNS = {
    "person": {"type": "string"},
    "book": {"type": "integer"},
    "page": {"type": "string"},
}
BOOKS = ("0", "1", "2", "3", "4", "18446744073709551615", "18446744073709551616", "-1", "2.5", "")
DOMAINS: dict[str, tuple[dict[str, Any], str]] = {
    "uint64": ({"type": "uint64"}, "book"),
    "few": ({"type": "uint64", "size": 4}, "book"),
    "string": ({"type": "string", "alphabet": "01234", "length": 1}, "page"),
    "sha256_64": ({"type": "sha256_64"}, "page"),
}

Row = tuple[str, str, str]


def histogram(domain: str, kind: str, max_groups: int, max_rows: int) -> HistogramQuery:
    declared, column = DOMAINS[domain]
    return HistogramQuery.model_validate(
        {
            "name": "question",
            "dataset": "visits",
            "structure": "sparse_histogram",
            "domain": declared,
            "aggregate": {"type": kind},
            "group_by": [{"column": column}],
            "contribution": {"max_groups": max_groups, "max_rows_per_group": max_rows},
        }
    )


def measured(
    path: Path,
    relation: str,
    query: HistogramQuery,
    others: list[Row],
    one: list[Row],
    instead: list[Row],
) -> tuple[list[int], int, PreparedQuery]:
    """Return three norms of what a person changes (the Euclidean squared), and how many keys."""
    folder = Folder(path, NAMES)
    dataset = dataset_of(columns=COLUMNS, neighboring=relation)
    folder.csv([*others, *(instead if relation == "replace" else [])])
    before = counts(folder, dataset, query)
    folder.csv([*one, *others])
    after = counts(folder, dataset, query)
    moved = [abs(before.get(key, 0) - after.get(key, 0)) for key in before.keys() | after.keys()]
    norms = [sum(moved), sum(each * each for each in moved), max(moved, default=0)]
    return norms, sum(each > 0 for each in moved), prepared(dataset, query)


def counts(folder: Folder, dataset: DatasetSpec, query: HistogramQuery) -> dict[int, int]:
    found = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, Sources(folder.path)),
        sources=Sources(folder.path, threads=1),
    ).steps
    ranks, numbers = parted(found)
    assert (numbers > 0).all()
    return dict(zip(ranks.tolist(), numbers.tolist(), strict=True))


def derived(settled: PreparedQuery) -> list[Fraction]:
    found = settled.sensitivity
    return [found.l1, found.l2_squared, found.linf]


cells = st.tuples(st.sampled_from(BOOKS), st.sampled_from(BOOKS))


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("domain", DOMAINS)
@settings(max_examples=by_count(5, 20), deadline=None)
@given(
    one=st.lists(cells, max_size=25),
    instead=st.lists(cells, max_size=25),
    others=st.lists(st.tuples(st.sampled_from(["p", "q", ""]), cells), max_size=12),
    kind=st.sampled_from(["count", "count_units"]),
    max_groups=st.integers(1, 8),
    max_rows=st.integers(1, 4),
)
def test_a_person_never_moves_more_keys_or_further_than_derived(
    tmp_path_factory: pytest.TempPathFactory,
    relation: str,
    domain: str,
    one: list[tuple[str, str]],
    instead: list[tuple[str, str]],
    others: list[tuple[str, tuple[str, str]]],
    kind: str,
    max_groups: int,
    max_rows: int,
) -> None:
    norms, keys, settled = measured(
        tmp_path_factory.mktemp("files"),
        relation,
        histogram(domain, kind, max_groups, max_rows),
        [(person, *cell) for person, cell in others],
        [("one", *cell) for cell in one],
        [("one", *cell) for cell in instead],
    )
    assert keys <= settled.dimension
    for found, most in zip(norms, derived(settled), strict=True):
        assert found <= most


def worst(pages: str) -> list[Row]:
    """Return a person with more rows for each key than are let in."""
    return [("one", page, page) for page in pages for _ in range(6)]


@pytest.mark.parametrize("max_rows", [1, 5])
@pytest.mark.parametrize("domain", ["uint64", "string", "sha256_64"])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_the_worst_person_attains_every_norm(
    tmp_path: Path, relation: str, domain: str, max_rows: int
) -> None:
    query = histogram(domain, "count", 2, max_rows)
    norms, keys, settled = measured(
        tmp_path, relation, query, [("p", "0", "0")], worst("01"), worst("23")
    )
    assert norms == derived(settled)
    assert keys == settled.dimension


def test_norms_that_are_too_small_are_found_out(tmp_path: Path) -> None:
    loose, tight = histogram("uint64", "count", 3, 5), histogram("uint64", "count", 2, 4)
    norms, keys, _ = measured(tmp_path, "add_remove", loose, [], worst("012"), [])
    too_small = prepared(dataset_of(columns=COLUMNS), tight)
    assert keys > too_small.dimension
    for found, most in zip(norms, derived(too_small), strict=True):
        assert found > most
