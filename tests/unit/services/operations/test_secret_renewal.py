"""Test that a secret gets a new key, which the file, the database and the log know."""

import pytest
from tests.unit.services.logged import leaves
from tests.unit.worlds import World

from penstock.encryption.secrets import FINGERPRINT, PEPPER
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import secret_checks, secret_renewal


def numbers(world: World, name: str) -> list[int]:
    """Return the numbers of the keys of a secret that the log says were made, oldest first."""
    return [leaf["number"] for leaf in leaves(world) if leaf.get("secret") == name]


@pytest.mark.parametrize("name", [PEPPER, FINGERPRINT])
def test_every_new_key_is_logged_and_known_to_the_database(world: World, name: str) -> None:
    for _ in range(2):
        secret_renewal.renew(world.server, OPERATOR, name)
    assert numbers(world, name) == [2, 3]
    secret_checks.require(world.server.database, world.server.secrets)
    with world.server.database.write() as session:
        assert not secret_checks.add(session, world.server.secrets)


def test_a_key_that_the_file_alone_has_is_made_known_before_another_is_made(world: World) -> None:
    world.server.stored.renew(PEPPER)
    secret_renewal.renew(world.server, OPERATOR, PEPPER)
    assert numbers(world, PEPPER) == [2]
    assert world.server.secrets.newest == 2
