"""Test that a charge is for a dataset as it was declared when it was seen."""

import datetime
import hashlib
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation
from penstock.persistence.tables import Dataset, Query
from penstock.services.datasets.declarations import (
    as_declared,
    charged,
    digest,
    number_of,
    require_as_declared,
)


def dataset_with(**changes: Any) -> Dataset:
    row = {"name": "sites", "declaration": None, "withdrawn_at": None, "wrapped_kek": b"key"}
    return Dataset(**{**row, **changes})


WITHDRAWN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def test_the_first_declaration_has_number_one() -> None:
    assert number_of(dataset_with()) == 1
    assert number_of(dataset_with(declaration=3)) == 3


def test_a_leaf_holds_the_hash_of_the_stored_text() -> None:
    assert digest("{}") == hashlib.sha256(b"{}").hexdigest()


def test_what_did_not_change_may_be_charged() -> None:
    require_as_declared(dataset_with(), dataset_with())


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (None, "was withdrawn"),
        (
            dataset_with(withdrawn_at=WITHDRAWN),
            "was withdrawn",
        ),
        (dataset_with(wrapped_kek=b""), "was shredded"),
        (dataset_with(declaration=2), "was corrected"),
    ],
)
def test_what_changed_since_it_was_seen_is_not_charged(now: Dataset | None, words: str) -> None:
    with pytest.raises(Conflict, match=words):
        require_as_declared(now, dataset_with())


def test_a_query_makes_its_dataset_charged(world: World) -> None:
    def is_charged() -> bool:
        with world.server.database.read() as session:
            return charged(session, session.exec(select(Dataset)).one())

    assert not is_charged()
    world.push()
    assert is_charged()


def test_a_declaration_that_was_lost_is_found_out(world: World) -> None:
    world.push()
    with world.server.database.read() as session:
        dataset = session.exec(select(Dataset)).one()
        query = session.exec(select(Query)).one()
        assert as_declared(session, dataset, query) is dataset
        later = Dataset(**{**dataset.model_dump(), "declaration": 2})
        with pytest.raises(IntegrityViolation, match="is missing"):
            as_declared(session, later, query)
