"""Test that keys of queries are wrapped by that of their dataset, which shredding takes away."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select
from tests.softhsm import Token
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.encryption import KeyRing, dataset_context, new_dataset_kek
from penstock.errors import Conflict, KeysUnavailable
from penstock.persistence.tables import Dataset, Query
from penstock.services.context import Server
from penstock.services.kept_keys import SECONDS, KeptKeys
from penstock.services.noise.keys import dataset_key, fresh_query_key, identity, query_key
from penstock.services.operations.home import KEY_RING


def test_a_version_is_named_for_ever() -> None:
    assert identity(row(Dataset, folded="sites", version=3)) == "sites@3"


def test_every_wrapping_is_another_and_shredded_keys_are_gone(visits: World) -> None:
    with visits.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        query_key(visits.server, dataset, query)
        wrapped = {fresh_query_key(visits.server, dataset, "visits") for _ in range(3)}
        assert len(wrapped) == 3
        dataset.wrapped_kek = b""
        with pytest.raises(Conflict, match="was shredded"):
            dataset_key(visits.server, dataset)
        with pytest.raises(Conflict, match="was shredded"):
            query_key(visits.server, dataset, query)
        session.expire(dataset)


def test_keys_are_unwrapped_once_for_requests_that_follow_each_other(visits: World) -> None:
    server = visits.server
    query, dataset = rows(server)
    assert query_key(server, dataset, query) is query_key(server, dataset, query)
    assert dataset_key(server, dataset) is dataset_key(server, dataset)


def destroy_all(path: Path) -> None:
    ring = KeyRing.load(path)
    assert ring.drop(ring.health().keys)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (destroy_all, "lacks key"),
        (Path.unlink, "is missing"),
        (lambda path: path.chmod(0o640), "mode 0640"),
    ],
    ids=["destroyed", "removed", "shared"],
)
def test_a_kept_key_is_not_used_when_the_ring_would_not_give_it(
    visits: World, change: Callable[[Path], object], refusal: str
) -> None:
    server = visits.server
    query, dataset = rows(server)
    query_key(server, dataset, query)
    change(server.settings.keys_path / KEY_RING)
    with pytest.raises(KeysUnavailable, match=refusal):
        query_key(server, dataset, query)
    with pytest.raises(KeysUnavailable, match=refusal):
        dataset_key(server, dataset)


def test_what_another_program_destroys_on_a_token_counts_a_few_seconds_later(
    visits: World, token: Token
) -> None:
    now = [0.0]
    server = replace(
        visits.server, provider=token.provider(), keys=KeptKeys(lambda: now[0], lambda *_: None)
    )
    wrapped = new_dataset_kek(server.provider, "sites@7")
    dataset = row(Dataset, name="sites", folded="sites", version=7, wrapped_kek=wrapped)
    key = dataset_key(server, dataset)
    token.provider().destroy(dataset_context("sites@7"))
    now[0] = SECONDS - 0.1
    assert dataset_key(server, dataset) is key
    now[0] = SECONDS
    with pytest.raises(KeysUnavailable, match="lacks key"):
        dataset_key(server, dataset)


def test_what_is_shredded_on_a_token_counts_at_once(visits: World, token: Token) -> None:
    server = replace(visits.server, provider=token.provider(), keys=KeptKeys())
    wrapped = new_dataset_kek(server.provider, "sites@8")
    dataset = row(Dataset, name="sites", folded="sites", version=8, wrapped_kek=wrapped)
    dataset_key(server, dataset)
    dataset.wrapped_kek = b""
    with pytest.raises(Conflict, match="was shredded"):
        dataset_key(server, dataset)


def test_a_query_key_is_kept_no_longer_than_that_of_its_dataset(visits: World) -> None:
    now = [0.0]
    server = replace(visits.server, keys=KeptKeys(lambda: now[0], lambda *_: None))
    query, dataset = rows(server)
    dataset_key(server, dataset)
    now[0] = SECONDS - 0.1
    key = query_key(server, dataset, query)
    now[0] = SECONDS
    assert query_key(server, dataset, query) is not key


def rows(server: Server) -> tuple[Query, Dataset]:
    with server.database.read() as session:
        query = session.exec(select(Query)).one()
        return query, session.get_one(Dataset, query.dataset_id)
