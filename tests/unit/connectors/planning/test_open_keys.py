"""Test counts over too many keys to list.

What is read, what is refused, what one hash holds.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, prepared, stated
from tests.unit.connectors.open_reference import answer as meant

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import Sha256Prefix, Strings, Uint64, parted

COLUMNS = {
    "person": {"type": "string"},
    "book": {"type": "integer"},
    "page": {"type": "string"},
    "cost": {"type": "number", "lower": 0, "upper": 9, "step": 1},
    "ward": {"type": "string", "categories": ["a", "b"]},
}
DATASET = dataset_of(columns=COLUMNS)
LARGEST = 2**64 - 1


def histogram_of(domain: dict[str, Any], column: str = "book", **changes: object) -> HistogramQuery:
    return HistogramQuery.model_validate(
        {
            "name": "question",
            "dataset": "visits",
            "structure": "sparse_histogram",
            "domain": domain,
            "aggregate": {"type": "count"},
            "group_by": [{"column": column}],
            "contribution": {"max_groups": 2, "max_rows_per_group": 3},
            **changes,
        }
    )


def asked(
    folder: Folder, query: HistogramQuery, dataset: DatasetSpec = DATASET
) -> NDArray[np.int64]:
    return answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, Sources(folder.path)),
        sources=Sources(folder.path, threads=1),
    ).steps


def counts(folder: Folder, query: HistogramQuery, dataset: DatasetSpec = DATASET) -> dict[int, int]:
    ranks, numbers = parted(asked(folder, query, dataset))
    return dict(zip(ranks.tolist(), numbers.tolist(), strict=True))


@pytest.fixture
def books(folder: Folder) -> Folder:
    folder.names = list(COLUMNS)
    folder.csv(
        [
            *(("ann", LARGEST, "https://a/", 1, "a") for _ in range(5)),
            ("ann", 7, "https://b/", 1, "b"),
            ("ann", -1, "https://c/", 1, "a"),
            ("ann", LARGEST + 1, "", 1, "a"),
            ("bob", 7, "https://b/", 2, "b"),
            ("bob", "7.0", "HTTPS://b/", 3, "b"),
            ("bob", "7.5", "https://a/", 3, "b"),
            ("bob", "x", None, 3, "b"),
            ("bob", None, "AC", 3, "b"),
            (None, 8, "CA", 3, "b"),
        ]
    )
    return folder


def test_integers_of_64_bits_are_counted_exactly_and_all_others_dropped(books: Folder) -> None:
    assert counts(books, histogram_of({"type": "uint64"})) == {LARGEST: 3, 7: 3}


def test_keys_beyond_the_domain_are_dropped_before_a_units_keys_are_chosen(books: Folder) -> None:
    one = {"max_groups": 1, "max_rows_per_group": 3}
    query = histogram_of({"type": "uint64", "size": 100}, contribution=one)
    assert counts(books, query) == {7: 3}


def test_texts_are_counted_under_their_hash(books: Folder) -> None:
    domain, all_of_them = Sha256Prefix(), {"max_groups": 9}
    query = histogram_of(
        {"type": "sha256_64"},
        "page",
        aggregate={"type": "count_units"},
        contribution=all_of_them,
    )
    people = {"https://a/": 2, "https://b/": 2, "https://c/": 1, "HTTPS://b/": 1, "AC": 1}
    named = {domain.rank(domain.key_of(text)): units for text, units in people.items()}
    assert counts(books, query) == named


def test_strings_are_counted_where_they_are_of_the_alphabet_and_length(books: Folder) -> None:
    domain = {"type": "string", "alphabet": "ACGT", "length": 2}
    assert counts(books, histogram_of(domain, "page")) == {Strings("ACGT", 2).rank("AC"): 1}


def test_conditions_and_missing_cells_act_as_elsewhere(books: Folder) -> None:
    query = histogram_of({"type": "uint64"}, where=[{"column": "ward", "op": "=", "value": "b"}])
    assert counts(books, query) == {7: 3}
    dataset = dataset_of(columns={**COLUMNS, "book": {"type": "integer", "missing": 5}})
    assert counts(books, query, dataset)[5] == 3


def test_where_each_row_is_a_unit_every_row_counts(books: Folder) -> None:
    dataset = dataset_of(columns=COLUMNS, unit={"rows": 1})
    query = histogram_of({"type": "uint64"}, contribution={})
    assert counts(books, query, dataset) == {LARGEST: 5, 7: 3, 8: 1}


@pytest.mark.parametrize("unit", [None, {"rows": 1}], ids=str)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_keys_and_counts_are_those_of_the_rows_read_one_by_one(
    folder: Folder, unit: object, groups: int
) -> None:
    folder.names = list(COLUMNS)
    rows = [(f"p{n % 7}", str(n * n % 23), f"t{n % 5}", "1", "ab"[n % 2]) for n in range(200)]
    folder.csv(rows)
    dataset = dataset_of(columns=COLUMNS, unit=unit)
    limits = {"max_groups": groups, "max_rows_per_group": 3}
    for domain, column in (
        ({"type": "uint64", "size": 20}, "book"),
        ({"type": "sha256_64"}, "page"),
    ):
        query = histogram_of(domain, column, contribution=limits)
        named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        assert counts(folder, query, dataset) == meant(interpret(dataset, query), named, SALT)


def test_a_file_without_any_key_has_none(folder: Folder) -> None:
    folder.names = list(COLUMNS)
    folder.csv([])
    for domain, column in (({"type": "uint64"}, "book"), ({"type": "sha256_64"}, "page")):
        ranks, numbers = parted(asked(folder, histogram_of(domain, column)))
        assert ranks.shape == numbers.shape == (0,)


def test_the_dimension_is_how_many_keys_differ_between_neighbors() -> None:
    query = histogram_of({"type": "uint64"})
    assert prepared(DATASET, query).dimension == 2
    assert prepared(dataset_of(columns=COLUMNS, neighboring="replace"), query).dimension == 4
    few = histogram_of(
        {"type": "uint64", "size": 4}, contribution={"max_groups": 9, "max_rows_per_group": 1}
    )
    assert prepared(dataset_of(columns=COLUMNS, neighboring="replace"), few).dimension == 4
    assert prepared(DATASET, query).keys is None


def test_sensitivity_is_that_of_the_keys_a_unit_reaches() -> None:
    found = prepared(DATASET, histogram_of({"type": "uint64"})).sensitivity
    assert [found.l1, found.l2_squared, found.linf] == [6, 18, 3]
    found = prepared(
        dataset_of(columns=COLUMNS, neighboring="replace"), histogram_of({"type": "uint64"})
    ).sensitivity
    assert [found.l1, found.l2_squared, found.linf] == [12, 36, 3]


def test_one_statistic_has_one_hash_and_another_domain_another() -> None:
    def hashed(domain: dict[str, Any], column: str = "page", **more: object) -> str | None:
        return prepared(DATASET, histogram_of(domain, column, **more)).canonical_hash

    letters = {"type": "string", "alphabet": "ACGT", "length": 3}
    assert hashed(letters) == hashed({**letters, "alphabet": "TGCA"}, name="other")
    assert hashed(letters) != hashed({**letters, "length": 4})
    assert hashed(letters) != hashed({"type": "sha256_64"})
    books = [
        hashed({"type": "uint64", **size}, "book") for size in ({}, {"size": None}, {"size": 9})
    ]
    assert books[0] == books[1] != books[2]


PAGES = [{"column": "page"}]
LETTERS = {"type": "string", "alphabet": "ab", "length": 1}
WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"group_by": PAGES}, "/group_by/0/column", "type integer; page is declared as string"),
    ({"domain": {"type": "sha256_64"}}, "/group_by/0/column", "type string; book is declared as"),
    ({"group_by": [{"column": "nowhere"}]}, "/group_by/0/column", "declares no column"),
    ({"group_by": []}, "/group_by", "and not by 0"),
    ({"group_by": [{"column": "book"}, *PAGES]}, "/group_by", "and not by 2"),
    ({"group_by": [{"column": "book", "bins": [0, 1]}]}, "/group_by/0/bins", "leave bins out"),
    ({"aggregate": {"type": "sum", "column": "cost"}}, "/aggregate/type", "count_units, not sum"),
    (
        {"contribution": {"max_rows_per_group": 1}},
        "/contribution/max_groups",
        "how many of the 18446744073709551616 groups",
    ),
    (
        {"contribution": {"max_groups": 1}},
        "/contribution/max_rows_per_group",
        "how many rows of one privacy unit",
    ),
    ({"domain": LETTERS, "group_by": PAGES}, "/domain", "has 2 keys"),
    (
        {"domain": {**LETTERS, "alphabet": "aa"}, "group_by": PAGES},
        "/domain/alphabet",
        "each of them once",
    ),
    (
        {"domain": {**LETTERS, "alphabet": "abc", "length": 64}, "group_by": PAGES},
        "/domain/length",
        "more than 2",
    ),
]


@pytest.mark.parametrize(("changes", "pointer", "words"), WRONG, ids=[each[2] for each in WRONG])
def test_what_cannot_be_meant_is_refused_with_its_place(
    changes: dict[str, Any], pointer: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        prepared(DATASET, histogram_of(**{"domain": {"type": "uint64"}, **changes}))
    assert refused.value.errors[0][0] == pointer


def test_the_domain_of_the_keys_is_what_the_spec_says() -> None:
    opened = interpret(DATASET, histogram_of({"type": "uint64", "size": 10**13})).open_keys
    assert opened is not None
    assert opened.domain == Uint64(10**13)
