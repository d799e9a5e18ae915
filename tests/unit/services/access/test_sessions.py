"""Test sessions of the pages: worth what their token and user are worth at every request."""

from datetime import timedelta

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import NotAuthenticated
from penstock.persistence.tables import WebSession
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange


def token(world: World, name: str, **spec: object) -> str:
    wanted = TokenSpec.model_validate(spec)
    return tokens.issue(world.server, OPERATOR, name, wanted).token


def stored(world: World) -> list[WebSession]:
    with world.server.database.read() as session:
        return list(session.exec(select(WebSession)).all())


def refused(world: World, secret: str) -> bool:
    try:
        sessions.resume(world.server, secret)
    except NotAuthenticated:
        return True
    return False


def test_a_session_is_of_whoever_signed_in(world: World) -> None:
    signed_in = sessions.sign_in(world.server, token(world, "pia"))
    assert sessions.resume(world.server, signed_in.secret).name == "pia"
    assert sessions.resume(world.server, signed_in.secret).roles == {"analyst"}


def test_only_a_keyed_hash_of_the_secret_is_stored(world: World) -> None:
    secret = sessions.sign_in(world.server, token(world, "pia")).secret
    (row,) = stored(world)
    assert len(secret) == 43
    assert secret.encode() not in row.digest
    assert secret not in row.model_dump_json(exclude={"digest", "mac"})


@pytest.mark.parametrize("secret", ["", "x", "é" * 50, "\udcff", "a" * 100_000])
def test_a_secret_that_nobody_was_given_is_refused(world: World, secret: str) -> None:
    sessions.sign_in(world.server, token(world, "pia"))
    assert refused(world, secret)


def test_a_token_that_is_not_valid_begins_nothing(world: World) -> None:
    with pytest.raises(NotAuthenticated):
        sessions.sign_in(world.server, "pst_no")
    assert stored(world) == []


def test_a_session_ends_with_its_token(world: World) -> None:
    issued = token(world, "pia")
    secret = sessions.sign_in(world.server, issued).secret
    tokens.revoke(world.server, OPERATOR, "pia", issued.split("_")[1])
    assert refused(world, secret)


def test_a_session_outlives_no_token(world: World) -> None:
    signed_in = sessions.sign_in(world.server, token(world, "pia", expires_in="5m"))
    assert signed_in.ends == world.clock.now + timedelta(minutes=5)
    world.clock.forward(minutes=5)
    assert refused(world, signed_in.secret)


def test_a_disabled_user_is_out_at_once(world: World) -> None:
    secret = sessions.sign_in(world.server, token(world, "pia")).secret
    users.disable(world.server, OPERATOR, "pia")
    assert refused(world, secret)


def test_changed_roles_act_at_once(world: World) -> None:
    users.change(world.server, OPERATOR, "pia", UserChange(roles=["analyst", "auditor"]))
    secret = sessions.sign_in(world.server, token(world, "pia")).secret
    assert sessions.resume(world.server, secret).roles == {"analyst", "auditor"}
    users.change(world.server, OPERATOR, "pia", UserChange(roles=["auditor"]))
    assert sessions.resume(world.server, secret).roles == {"auditor"}


def test_a_session_carries_no_more_than_its_token(world: World) -> None:
    users.change(world.server, OPERATOR, "pia", UserChange(roles=["analyst", "auditor"]))
    secret = sessions.sign_in(world.server, token(world, "pia", scopes=["auditor"])).secret
    assert sessions.resume(world.server, secret).roles == {"auditor"}


def test_an_idle_session_ends(world: World) -> None:
    secret = sessions.sign_in(world.server, token(world, "pia")).secret
    world.clock.forward(minutes=30)
    assert refused(world, secret)


def test_a_session_in_use_lasts_to_its_end_and_no_longer(world: World) -> None:
    signed_in = sessions.sign_in(world.server, token(world, "pia"))
    while world.clock.now + timedelta(minutes=20) < signed_in.ends:
        world.clock.forward(minutes=20)
        sessions.resume(world.server, signed_in.secret)
    assert signed_in.ends - world.clock.now <= timedelta(minutes=20)
    world.clock.now = signed_in.ends
    assert refused(world, signed_in.secret)


def test_a_session_is_not_written_at_every_request(world: World) -> None:
    signed_in = sessions.sign_in(world.server, token(world, "pia"))
    started = stored(world)[0].seen_at
    world.clock.forward(minutes=2)
    sessions.resume(world.server, signed_in.secret)
    assert stored(world)[0].seen_at == started
    world.clock.forward(minutes=1)
    sessions.resume(world.server, signed_in.secret)
    assert stored(world)[0].seen_at == world.clock.now


def test_signing_out_ends_that_session_alone(world: World) -> None:
    issued = token(world, "pia")
    first, second = (sessions.sign_in(world.server, issued).secret for _ in range(2))
    sessions.end(world.server, first)
    sessions.end(world.server, first)
    assert refused(world, first)
    assert not refused(world, second)


def test_signing_in_again_ends_the_session_before(world: World) -> None:
    issued = token(world, "pia")
    first = sessions.sign_in(world.server, issued).secret
    second = sessions.sign_in(world.server, issued, former=first).secret
    assert refused(world, first)
    assert not refused(world, second)


def test_a_user_has_so_many_sessions_and_the_oldest_ends(world: World) -> None:
    issued, other = token(world, "pia"), token(world, "paul")
    kept = sessions.sign_in(world.server, other).secret
    signed_in = [sessions.sign_in(world.server, issued).secret for _ in range(sessions.MOST + 2)]
    assert [refused(world, one) for one in signed_in] == [True, True] + [False] * sessions.MOST
    assert not refused(world, kept), "it is of somebody else"


def test_sessions_whose_time_is_over_are_not_kept(world: World) -> None:
    issued = token(world, "pia")
    sessions.sign_in(world.server, issued)
    world.clock.forward(hours=12)
    sessions.sign_in(world.server, issued)
    assert len(stored(world)) == 1


def test_each_session_has_a_key_of_its_own_for_forms(world: World) -> None:
    issued = token(world, "pia")
    first, second = (sessions.sign_in(world.server, issued).secret for _ in range(2))
    keys = {sessions.form_key(world.server, secret) for secret in (first, second)}
    assert len(keys) == 2
    assert sessions.form_key(world.server, first) in keys
    assert not keys & {first, second}
