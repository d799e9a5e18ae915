"""Test Skellam queries: what is stored beside their releases, and what of it anybody is told."""

import json

import numpy as np
import pytest
from sqlmodel import col, select
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.mechanisms import IntVector
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Leaf, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state
from penstock.services.noise.sealing import StoredRelease
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange
from penstock.transparency_log import leaves


@pytest.fixture
def skellam(world: World) -> World:
    """Return the world with one Skellam query of three values."""
    world.push(mechanism="skellam")
    return world


def stored(world: World) -> dict[int, IntVector]:
    """Return the kept numbers by rung."""
    with world.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        rows = session.exec(select(Release).order_by(col(Release.rung))).all()
        return {row.rung: open_state(world.server, dataset, query, row) for row in rows}


def test_a_draw_keeps_no_sealed_neighbor(skellam: World) -> None:
    """A sealed vector takes as much memory as the opened one."""
    skellam.ask("pia")
    with skellam.server.database.read() as session:
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        rows = session.exec(select(Release).order_by(col(Release.rung))).all()
        near, far = (
            StoredRelease(required(row.id), row.public_id, row.rung, row.seq, row.ciphertext)
            for row in rows
        )
        kind = kind_of(query)
        kind.draw(session, skellam.server, dataset, query, near.rung + 1, near, far)
    assert (near.ciphertext, far.ciphertext) == (b"", b"")


def raise_ceiling(world: World) -> None:
    wanted = {"levels": {"internal": {"epsilon": 1.0}}, "values": VISITS["values"]}
    queries.change(world.server, OPERATOR, "visits", LevelsChange.model_validate(wanted))


def test_the_anchors_own_jumps_are_stored_nowhere(skellam: World) -> None:
    (anchor,) = stored(skellam).values()
    assert anchor.shape == (6,)
    assert not anchor[3:].any()
    skellam.ask("pia")
    near, far = stored(skellam).values()
    net, up = np.split(far - near, 2)
    assert (up >= np.maximum(net, 0)).all()


def test_a_raised_ceiling_leaves_what_was_stored_as_it_was(skellam: World) -> None:
    before = skellam.ask("ines").view.values
    (rung, anchor), *_ = stored(skellam).items()
    raise_ceiling(skellam)
    kept = stored(skellam)
    np.testing.assert_array_equal(kept[rung], anchor)
    net, up = np.split(anchor - kept[min(kept)], 2)
    assert (up >= np.maximum(net, 0)).all()
    assert up.any()
    old = skellam.ask("ines", level=float(skellam.ask("ines", epsilon=0.5).view.level.value)).view
    np.testing.assert_array_equal(old.values, before)


def test_a_leaf_proves_the_values_alone(skellam: World) -> None:
    view = skellam.ask("pia").view
    with skellam.server.database.read() as session:
        rows = session.exec(select(Leaf).where(Leaf.kind == "release")).all()
    (leaf,) = (json.loads(row.bytes) for row in rows)
    steps = np.rint(view.values).astype(np.int64)
    expected = leaves.value_hmac(skellam.server.secrets.values, view.id, steps)
    assert leaf["value_hmac"] == expected
