"""Test what acknowledging a restore would come to, held to what it then comes to."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import Restore, World

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.datasets import datasets
from penstock.services.schemas.queries import DatasetRequest


def test_what_is_foreseen_is_what_acknowledging_comes_to(visits: World, restore: Restore) -> None:
    visits.push("later")
    other = DatasetRequest.model_validate({**SITES, "name": "other"})
    datasets.register(visits.server, OPERATOR, other)
    visits.push("gone", dataset="other")
    old = restore()
    foreseen = restores.preview(old.server, OPERATOR)
    assert foreseen is not None
    assert foreseen.problem == old.server.sequencer.suspended == restores.trouble(old.server)
    assert foreseen.datasets == ["other"]
    assert restores.preview(old.server, OPERATOR) == foreseen
    done = restores.acknowledge(old.server, OPERATOR)
    assert (done.witnessed, done.frozen, done.charged, done.datasets) == (
        foreseen.witnessed,
        foreseen.frozen,
        foreseen.charged,
        foreseen.datasets,
    )
    assert foreseen.charged == 3
    assert restores.preview(old.server, OPERATOR) is None
    assert restores.trouble(old.server) is None


def test_another_restore_has_another_basis(visits: World, restore: Restore) -> None:
    visits.push("later")
    old = restore()
    first = restores.preview(old.server, OPERATOR)
    witness = old.server.sequencer.witness
    witness.start_over(type(witness.seen())(10**6, b"x" * 32))
    second = restores.preview(old.server, OPERATOR)
    assert first
    assert second
    assert first.basis != second.basis


def test_a_lost_witness_is_foreseen_as_well(visits: World) -> None:
    folder = visits.server.settings.witness_path
    folder.rename(folder.with_name("away"))
    foreseen = restores.preview(visits.server, OPERATOR)
    assert foreseen is not None
    assert (foreseen.witnessed, foreseen.basis, foreseen.charged) == (None, "lost", 0)
    folder.with_name("away").rename(folder)
    assert restores.preview(visits.server, OPERATOR) is None


def test_only_admins_foresee_a_restore(visits: World) -> None:
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            restores.preview(visits.server, visits.person(name))
