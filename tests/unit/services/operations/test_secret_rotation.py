"""Test a new pepper while the server runs.

Nobody is signed out, until what was retired is dropped.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.encryption import Secrets, SecretsFile
from penstock.errors import Forbidden, KeysUnavailable, NotAuthenticated
from penstock.persistence.tables import Leaf, SecretCheck, Token
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.context import Server
from penstock.services.operations import backup, home, secret_renewal, secret_rotation
from penstock.services.operations.secret_rotation import PeppersView
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.verification import verification

BY_ID = select(Token).order_by(col(Token.id))

pytestmark = pytest.mark.each_database


def issued(world: World, name: str = "ines") -> str:
    return tokens.issue(world.server, OPERATOR, name, TokenSpec()).token


def counts(found: PeppersView) -> list[tuple[int, int]]:
    """Return the peppers' numbers, and the valid tokens under each.

    All but the first are retired.
    """
    assert [one.retired for one in found.peppers] == [False] + [True] * (len(found.peppers) - 1)
    return [(one.number, one.tokens) for one in found.peppers]


def another(world: World) -> Server:
    """Return another worker over the same home."""
    return home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)


def digests(world: World) -> list[tuple[int | None, bytes]]:
    with world.server.database.read() as session:
        return [(one.pepper, one.digest) for one in session.exec(BY_ID).all()]


def test_tokens_and_sessions_go_on_in_every_worker_and_tokens_move(world: World) -> None:
    used, unused = issued(world), issued(world, "pia")
    other = another(world)
    begun = sessions.sign_in(other, used)
    form = sessions.form_key(other, begun.secret)
    before = digests(world)
    found = secret_rotation.rotate(world.server, OPERATOR)
    assert counts(found) == [(2, 0), (1, 2)]
    for server in (other, world.server):
        assert authenticate(server, used).name == "ines"
        assert sessions.resume(server, begun.secret).name == "ines"
        assert sessions.is_form_key(server, begun.secret, form)
        assert not sessions.is_form_key(server, begun.secret, form[:-1] + "!")
    after = digests(world)
    assert [number for number, _ in after] == [2, 1]
    assert (after[0][1] != before[0][1], after[1]) == (True, before[1])
    fresh = issued(world)
    assert authenticate(other, fresh).name == "ines"
    assert secret_rotation.show(other, OPERATOR).peppers[1].tokens == 1
    assert authenticate(other, unused).name == "pia"
    assert secret_rotation.show(other, OPERATOR).peppers[1].tokens == 0
    other.database.close()
    assert verification.verify(world.server, OPERATOR).problems == []


def test_tokens_that_rest_on_a_dropped_pepper_are_revoked_and_no_others(world: World) -> None:
    used, unused = issued(world), issued(world, "pia")
    other = another(world)
    begun = sessions.sign_in(other, unused)
    secret_rotation.rotate(world.server, OPERATOR)
    authenticate(other, used)
    found = secret_rotation.drop(world.server, OPERATOR)
    assert counts(found) == [(2, 1)]
    for server in (world.server, other):
        assert authenticate(server, used).name == "ines"
        with pytest.raises(NotAuthenticated):
            authenticate(server, unused)
        with pytest.raises(NotAuthenticated):
            sessions.resume(server, begun.secret)
    other.database.close()
    with world.server.database.read() as session:
        said = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
        assert [one.revoked_at is None for one in session.exec(BY_ID).all()] == [
            True,
            False,
        ]
    about = [one for one in said if one["kind"] == "key"]
    assert [one["secret"] for one in about] == ["pepper", "pepper"]
    assert (about[0]["number"], about[1]["dropped"]) == (2, [1])
    assert [one["user"] for one in said if one.get("revoked")] == ["pia"]
    assert verification.verify(world.server, OPERATOR).problems == []
    another(world).database.close()


class Late(SecretsFile):
    """Stand for a file that is looked at when something was done since the row was read."""

    def __init__(self, path: Path, meanwhile: Callable[[], object]) -> None:
        super().__init__(path)
        self._meanwhile: Callable[[], object] | None = meanwhile

    @property
    def now(self) -> Secrets:
        act, self._meanwhile = self._meanwhile, None
        if act is not None:
            act()
        return super().now


def test_a_token_that_another_worker_moves_just_before_the_dropping_is_good(world: World) -> None:
    token = issued(world)
    secret_rotation.rotate(world.server, OPERATOR)

    def meanwhile() -> None:
        authenticate(world.server, token)
        secret_rotation.drop(world.server, OPERATOR)

    late = Late(world.server.settings.keys_path / home.SECRETS, meanwhile)
    assert authenticate(replace(world.server, stored=late), token).name == "ines"


def test_a_digest_under_a_dropped_pepper_is_refused_whoever_put_it_back(world: World) -> None:
    """The row alone does not decide: nobody can check it any more."""
    token = issued(world)
    secret_rotation.rotate(world.server, OPERATOR)
    world.server.stored.drop_peppers()
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, token)


def test_a_host_whose_secrets_are_older_says_so(world: World) -> None:
    path = world.server.settings.keys_path / home.SECRETS
    before = path.read_bytes()
    secret_rotation.rotate(world.server, OPERATOR)
    token = issued(world)
    path.write_bytes(before)
    with pytest.raises(KeysUnavailable, match=r"pepper 2, and secrets\.json here ends with 1"):
        authenticate(world.server, token)
    with pytest.raises(KeysUnavailable, match=r"not those .* \(pepper differ\)"):
        another(world)


def cut_off(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    act: Callable[[], object],
) -> None:
    """Do something that ends before ``name`` is called, as a kill there would."""

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(where, name, crash)
        with pytest.raises(KeyboardInterrupt):
            act()


def numbers(world: World) -> tuple[list[int], list[str]]:
    """Return the peppers of the file, and those that the database knows."""
    with world.server.database.read() as session:
        known = session.exec(select(SecretCheck.name)).all()
    return sorted(world.server.stored.now.peppers), sorted(n for n in known if "pepper" in n)


def test_a_rotation_that_was_cut_off_is_gone_on_with(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issued(world)
    cut_off(
        world,
        monkeypatch,
        secret_renewal,
        "record",
        lambda: secret_rotation.rotate(world.server, OPERATOR),
    )
    assert numbers(world) == ([1, 2], ["pepper"])
    other = another(world)
    assert authenticate(other, token).name == "ines"
    assert authenticate(other, issued(world)).name == "ines"
    other.database.close()
    secret_rotation.rotate(world.server, OPERATOR)
    assert numbers(world) == ([1, 2], ["pepper", "pepper 2"])
    secret_rotation.rotate(world.server, OPERATOR)
    assert numbers(world) == ([1, 2, 3], ["pepper", "pepper 2", "pepper 3"])


def test_dropping_that_was_cut_off_is_gone_on_with(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issued(world)
    secret_rotation.rotate(world.server, OPERATOR)
    cut_off(
        world,
        monkeypatch,
        SecretsFile,
        "drop_peppers",
        lambda: secret_rotation.drop(world.server, OPERATOR),
    )
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, token)
    assert numbers(world)[0] == [1, 2]
    assert counts(secret_rotation.drop(world.server, OPERATOR)) == [(2, 0)]


def test_a_backup_from_before_opens_until_its_pepper_is_dropped(
    world: World, tmp_path: Path
) -> None:
    settings = world.server.settings
    made = Path(backup.create(settings, tmp_path / "old").path)
    secret_rotation.rotate(world.server, OPERATOR)
    assert backup.check(settings, made).opens
    later = Path(backup.create(settings, tmp_path / "new").path)
    secret_rotation.drop(world.server, OPERATOR)
    found = backup.check(settings, made)
    assert (found.opens, found.problems) == (
        False,
        ["secrets.json is not the one that it was made with (pepper differ)"],
    )
    assert backup.check(settings, later).opens


def test_no_analyst_rotates_or_looks(world: World) -> None:
    for act in (secret_rotation.rotate, secret_rotation.drop, secret_rotation.show):
        with pytest.raises(Forbidden):
            act(world.server, world.person("ines"))
