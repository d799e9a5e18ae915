"""Test a home whose keys are in a hardware module: nothing of them is in its folders."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.softhsm import Token
from tests.unit.sites import SITES
from tests.unit.worlds import Clock, Streams, World

from penstock.errors import KeysUnavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.operations import home, key_rotation, status
from penstock.services.people import tier_changes, users
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
)
from penstock.settings import Settings


@pytest.fixture
def hardware(token: Token, tmp_path: Path) -> Iterator[World]:
    """Yield a new home on the token, with one query."""
    settings = Settings(
        home=tmp_path / "home",
        key_provider="pkcs11",
        pkcs11_module=token.module,
        pkcs11_token=token.label,
        pkcs11_pin_file=token.pin_file,
    )
    home.create(settings)
    clock, streams = Clock(), Streams()
    world = World(home.open_server(settings, clock=clock, randomness=streams), clock, streams)
    for name in ("public", "partner", "internal"):
        tier_changes.create(world.server, OPERATOR, TierSpec(name=name))
    users.create(
        world.server, OPERATOR, UserSpec(name="ines", roles=["analyst"], clearance="internal")
    )
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(SITES))
    world.push()
    yield world
    world.server.database.close()


def test_a_home_on_a_token_works_rotates_and_shreds(hardware: World) -> None:
    settings = hardware.server.settings
    assert not (settings.keys_path / home.KEY_RING).exists()
    before = hardware.ask("ines").view.values
    old = key_rotation.show(hardware.server, OPERATOR)
    new = key_rotation.rotate(hardware.server, OPERATOR)
    assert old.provider == new.provider == "pkcs11"
    assert old.used[0].key != new.used[0].key
    assert (hardware.ask("ines").view.values == before).all()
    assert (
        key_rotation.shred(hardware.server, OPERATOR, "sites").keys == 2
    )  # the one before as well
    assert status.examine(settings).good


def test_a_home_without_its_token_is_not_opened(hardware: World) -> None:
    elsewhere = hardware.server.settings.model_copy(update={"pkcs11_token": "another"})
    with pytest.raises(KeysUnavailable, match="another"):
        home.open_server(elsewhere)
    assert not status.examine(elsewhere).good
