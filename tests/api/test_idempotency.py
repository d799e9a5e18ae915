"""Test idempotency keys: what is sent again is not done again, and nothing exact is kept."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, func, select
from tests.api.bad_input.tables.datasets import of_file
from tests.api.bad_input.tables.keys import POSTS
from tests.api.bad_input.tables.streams import STREAM, STREAMS
from tests.api.routes.requested import request_in
from tests.api.sight.scheduled import schedule_in
from tests.api.world import QUERY, World, parsed, propose

from penstock.api import OPERATIONS
from penstock.api.operations import ADMIN, ONESELF_OR_ADMIN, REGISTRAR
from penstock.encryption import Secrets, SecretsFile
from penstock.persistence.tables import Charge, Idempotency, Leaf
from penstock.services.jobs import idempotency

KEY = {"Idempotency-Key": "once"}
NEW: dict[str, Any] = {
    **QUERY,
    "name": "new",
    "values": [31337, 7],
    "levels": {"internal": {"epsilon": 0.25}},
}


PROVIDER = {"oidc_issuer": "https://id.example.org", "oidc_audience": "penstock"}


def counted(world: World) -> tuple[int, int]:
    with world.server.database.read() as session:
        charges = session.exec(select(func.count()).select_from(Charge)).one()
        leaves = session.exec(select(func.count()).select_from(Leaf)).one()
    return charges, leaves


def test_a_query_sent_twice_is_registered_and_charged_once(world: World) -> None:
    first = world.call("POST", "/api/v1/queries", NEW, by="root", headers=KEY)
    before = counted(world)
    again = world.call("POST", "/api/v1/queries", NEW, by="root", headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.data == first.data
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert counted(world) == before


def test_without_a_key_the_second_is_refused(world: World) -> None:
    world.answer("POST", "/api/v1/queries", NEW, by="root")
    assert world.call("POST", "/api/v1/queries", NEW, by="root").status_code == 409


def test_one_key_with_another_body_is_refused(world: World) -> None:
    world.call("POST", "/api/v1/tiers", {"name": "gold"}, by="root", headers=KEY)
    response = world.call("POST", "/api/v1/tiers", {"name": "silver"}, by="root", headers=KEY)
    assert response.status_code == 422
    assert parsed(response)["errors"][0]["pointer"] == "/Idempotency-Key"


def test_a_refusal_is_not_kept_so_that_the_request_may_be_sent_again(world: World) -> None:
    body = {"name": "nina", "roles": ["analyst"], "clearance": "gold"}
    assert world.call("POST", "/api/v1/users", body, by="root", headers=KEY).status_code == 422
    world.answer("POST", "/api/v1/tiers", {"name": "gold"}, by="root")
    assert world.call("POST", "/api/v1/users", body, by="root", headers=KEY).status_code == 201


def test_a_key_belongs_to_one_user_and_lives_for_a_day(world: World) -> None:
    body = {"name": "gold"}
    assert world.call("POST", "/api/v1/tiers", body, by="root", headers=KEY).status_code == 201
    world.clock.now += timedelta(hours=23)
    again = world.call("POST", "/api/v1/tiers", body, by="root", headers=KEY)
    assert again.headers["Idempotency-Replayed"] == "true"
    world.clock.now += timedelta(hours=2)
    assert world.call("POST", "/api/v1/tiers", body, by="root", headers=KEY).status_code == 409
    with world.server.database.read() as session:
        assert session.exec(select(Idempotency)).all() == []


def test_what_is_kept_holds_neither_values_nor_tokens(world: World) -> None:
    world.call("POST", "/api/v1/queries", NEW, by="root", headers=KEY)
    issued = world.call(
        "POST", "/api/v1/users/ann/tokens", {}, by="root", headers={"Idempotency-Key": "token"}
    )
    secret = parsed(issued)["token"]
    with world.server.database.read() as session:
        kept = session.exec(select(Idempotency).order_by(col(Idempotency.id))).all()
    assert len(kept) == 2
    for row in kept:
        assert row.answer is not None
        assert b"31337" not in row.answer
        assert secret.encode() not in row.answer
    again = world.call(
        "POST", "/api/v1/users/ann/tokens", {}, by="root", headers={"Idempotency-Key": "token"}
    )
    assert parsed(again) == {**parsed(issued), "token": None}


def test_the_link_of_an_invitation_is_not_kept(world: World) -> None:
    lea = {"name": "lea", "roles": ["analyst"]}
    made, again = (
        parsed(world.call("POST", "/api/v1/invitations", lea, by="root", headers=KEY))
        for _ in range(2)
    )
    with world.server.database.read() as session:
        kept = session.exec(select(Idempotency)).all()
    secret = made["link"].rpartition("#")[2].encode()
    assert [secret in (row.answer or secret) for row in kept] == [False]
    assert again == {**made, "link": None}


def test_a_request_that_is_still_worked_on_is_told_so_and_an_abandoned_one_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            world.call("POST", "/api/v1/tiers", {"name": "gold"}, by="root", headers=KEY)
    busy = world.call("POST", "/api/v1/tiers", {"name": "gold"}, by="root", headers=KEY)
    assert (busy.status_code, parsed(busy)["code"]) == (409, "CONFLICT")
    world.clock.now += timedelta(minutes=2)
    late = world.call("POST", "/api/v1/tiers", {"name": "gold"}, by="root", headers=KEY)
    assert (late.status_code, parsed(late)["code"]) == (409, "NAME_TAKEN")


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\u00e9"])
def test_a_key_that_is_none_is_refused(world: World, key: str) -> None:
    response = world.call(
        "POST", "/api/v1/tiers", {"name": "gold"}, by="root", headers={"Idempotency-Key": key}
    )
    assert response.status_code == 422
    assert world.call("POST", "/api/v1/tiers", {"name": "gold"}, by="root").status_code == 201


def test_every_post_of_admins_is_tried_with_a_key() -> None:
    posts = {
        operation.path.format(
            user="ann",
            dataset="sites",
            query="visits",
            stream="hits",
            proposal="first",
            request_id="first",
        )
        for operation in OPERATIONS
        if operation.verb == "POST" and operation.policy in (ADMIN, ONESELF_OR_ADMIN, REGISTRAR)
    }
    assert posts == set(POSTS)


@pytest.mark.parametrize("path", sorted(POSTS))
def test_every_post_of_admins_is_done_once_under_a_key(
    open_copy: Callable[..., World], path: str, tmp_path: Path
) -> None:
    world, body = open_copy(**PROVIDER), POSTS[path]
    if path.endswith("/versions"):
        for name in ("old.csv", "new.csv"):
            (tmp_path / name).write_text(f"person,town,visits\n{name},north,1\n")
        world.answer("POST", "/api/v1/datasets", of_file(str(tmp_path / "old.csv")), by="root")
        path = f"/api/v1/datasets/{of_file('')['name']}/versions"
        body = {**body, "source": {"engine": "duckdb", "uri": str(tmp_path / "new.csv")}}
    if "/schedules" in path:
        schedule_in(world)
        body = {**body, "name": "other"}
    if path.endswith("/decision"):
        schedule_in(world)
        path = f"/api/v1/requests/{request_in(world)}/decision"
    if "/streams/hits/" in path:
        world.answer("POST", STREAMS, STREAM, by="root")
    if path.endswith("/approval"):
        path = f"/api/v1/proposals/{propose(world)}/approval"
    first = world.call("POST", path, body, by="root", headers=KEY)
    assert first.status_code in (200, 201), first.text
    before = counted(world)
    again = world.call("POST", path, body, by="root", headers=KEY)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (first.status_code, "true")
    secrets = dict.fromkeys({"token", "link"} & parsed(first).keys())
    assert parsed(again) == {**parsed(first), **secrets}
    assert counted(world) == before
    elsewhere = world.call("POST", "/api/v1/tiers", {"name": "else"}, by="root", headers=KEY)
    assert elsewhere.status_code == 422


def test_a_key_of_one_user_is_free_for_another(world: World) -> None:
    for name in ("ann", "ian"):
        path = f"/api/v1/users/{name}/tokens"
        answer = world.call("POST", path, {}, by=name, headers=KEY)
        assert (answer.status_code, parsed(answer)["user"]) == (201, name)


def test_releases_need_no_key_and_ignore_one(world: World) -> None:
    path = "/api/v1/queries/visits/releases"
    one = world.call("POST", path, {}, by="ann", headers=KEY)
    other = world.call("POST", path, {"epsilon": 0.05}, by="ann", headers=KEY)
    assert (one.status_code, other.status_code) == (200, 200)
    assert "Idempotency-Replayed" not in other.headers


def test_what_stands_for_a_request_is_made_with_a_secret_key(world: World, tmp_path: Path) -> None:
    """A body may hold counts, which somebody who reads the database could try out."""
    parts = (b"register_query", b"/api/v1/queries", b'{"values": [1]}')
    mine = idempotency.fingerprint(world.server, *parts)
    folder = tmp_path / "other"
    folder.mkdir(mode=0o700)
    Secrets.create(folder / "secrets.json")
    other = replace(world.server, stored=SecretsFile(folder / "secrets.json"))
    assert idempotency.fingerprint(other, *parts) != mine
    # Where one part ends and the next begins makes a difference.
    assert idempotency.fingerprint(world.server, b"".join(parts)) != mine


def test_one_key_at_another_address_is_refused(world: World) -> None:
    first = world.call("POST", "/api/v1/users/ann/tokens", {}, by="root", headers=KEY)
    other = world.call("POST", "/api/v1/users/ian/tokens", {}, by="root", headers=KEY)
    assert (first.status_code, other.status_code) == (201, 422)
