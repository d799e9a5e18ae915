"""Test the admin's Python client against the server itself."""

import time
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest
from tests.api.world import DATASET, QUERY, World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock_client import (
    Admin,
    BudgetExhausted,
    Client,
    Conflict,
    Forbidden,
    InvalidArgument,
    InvalidInput,
    LogRefused,
    NotFound,
    Proposed,
)

AsAdmin = Callable[..., Admin]


@pytest.fixture
def as_admin(world: World) -> AsAdmin:
    """Return an admin's client of this server, for anybody."""

    def make(name: str, of: World = world) -> Admin:
        transport = httpx.WSGITransport(of.client.application)
        return Admin("http://127.0.0.1", of.tokens[name], transport=transport)

    return make


def test_users_are_created_promoted_and_disabled(as_admin: AsAdmin, world: World) -> None:
    root = as_admin("root")
    made = root.create_user("eve", ["analyst"], "public")
    assert (made.name, made.roles, made.clearance, made.active) == (
        "eve", ("analyst",), "public", True,
    )  # fmt: skip
    token = root.issue_token("eve", expires_in="1h")
    assert token.token not in repr(token)
    world.tokens["eve"] = token.token
    eve = as_admin("eve")
    assert eve.me().clearance == "public"
    assert root.set_clearance("eve", "internal").clearance == eve.me().clearance == "internal"
    assert root.set_clearance("eve", None).clearance is None
    assert root.set_roles("eve", ["analyst", "auditor"]).roles == ("analyst", "auditor")
    assert [each.prefix for each in root.tokens("eve")] == [token.prefix]
    assert root.revoke_token("eve", token.prefix).revoked is not None
    assert not root.disable_user("eve").active
    assert not root.user("eve").active
    assert {each.name for each in root.users()} >= {"root", "ann", "eve"}


def test_a_request_that_is_refused_raises_with_its_reason(as_admin: AsAdmin) -> None:
    root, ann = as_admin("root"), as_admin("ann")
    with pytest.raises(Conflict):
        root.create_user("ann", ["analyst"])
    with pytest.raises(InvalidInput) as refused:
        root.create_user("eve", ["king"])
    assert refused.value.errors
    with pytest.raises(NotFound):
        root.user("nobody")
    with pytest.raises(InvalidArgument):
        root.user("")
    for forbidden in (ann.users, ann.proposals, ann.events):
        with pytest.raises(Forbidden):
            forbidden()
    with pytest.raises(Conflict):
        root.set_budgets("sites", {"public": {"epsilon": 1e-9}})
    with pytest.raises(BudgetExhausted) as exhausted:
        root.register({**QUERY, "name": "dear", "levels": {"public": {"epsilon": 50}}})
    assert exhausted.value.data["tier"] == "public"


def test_tiers_are_inserted_moved_and_deleted(as_admin: AsAdmin) -> None:
    root = as_admin("root")
    before = [tier.name for tier in root.tiers()]
    made = root.create_tier("consultants", above="public", description="hired")
    names = [tier.name for tier in root.tiers()]
    assert names.index("consultants") == names.index("public") + 1
    assert root.change_tier("consultants", description="outside").description == "outside"
    assert root.delete_tier("consultants").rank == made.rank
    assert [tier.name for tier in root.tiers()] == before
    with pytest.raises(Conflict):
        root.delete_tier("public")


def test_data_are_registered_and_retired(as_admin: AsAdmin) -> None:
    root = as_admin("root")
    dataset = root.register_dataset({**DATASET, "name": "more"})
    assert dataset.budgets["internal"].epsilon == 4
    raised = root.set_budgets("more", {"internal": {"epsilon": 5}})
    assert raised.budgets["internal"].epsilon == 5
    query = root.register({**QUERY, "name": "rows", "dataset": "more"})
    lowered = root.change_levels("rows", {"public": {"epsilon": 0.05}})
    assert lowered.tiers[0].level.value > query.tiers[0].level.value
    assert root.retire_query("rows").status == "retired"
    stream = root.open_stream(
        {
            "name": "ticks",
            "dataset": "more",
            "mechanism": "laplace",
            "length": 10,
            "max_steps_per_unit": 1,
            "levels": {"public": {"epsilon": 0.1}},
        }
    )
    assert root.push("ticks", [1, 2]).next == 3
    root.change_stream("ticks", {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}})
    assert root.retire_stream(stream.name).status == "retired"
    with pytest.raises(Conflict, match="no file that could have a new version"):
        root.add_version("more", {name: DATASET[name] for name in ("source", "budgets")})
    with pytest.raises(Conflict):
        root.withdraw_dataset("more")
    assert list(root.schedules()) == []


def test_two_persons_decide_on_a_proposal(open_copy: Callable[..., World]) -> None:
    ruled = open_copy(two_person_rule=True)
    users.create(ruled.server, OPERATOR, UserSpec(name="second", roles=["admin"]))
    ruled.tokens["second"] = tokens.issue(ruled.server, OPERATOR, "second", TokenSpec()).token
    ruled.tokens["root"] = tokens.issue(ruled.server, OPERATOR, "root", TokenSpec()).token

    def admin(name: str) -> Admin:
        transport = httpx.WSGITransport(ruled.client.application)
        return Admin("http://127.0.0.1", ruled.tokens[name], transport=transport)

    root = admin("root")
    with pytest.raises(Proposed) as proposed:
        root.retire_query("visits")
    (waiting,) = root.proposals("open")
    assert (waiting.id, waiting.proposed_by) == (proposed.value.proposal, "root")
    assert waiting.request["query"] == "visits"
    with pytest.raises(Forbidden):
        root.approve_proposal(waiting)
    approved = admin("second").approve_proposal(waiting.id)
    assert (approved.state, approved.decided_by) == ("approved", "second")
    assert root.query("visits").status == "retired"
    with pytest.raises(Proposed):
        root.retire_query("secret")
    (second,) = root.proposals("open")
    assert root.withdraw_proposal(second).state == "withdrawn"
    assert root.proposal(second).state == "withdrawn"


def test_the_log_proves_its_events(as_admin: AsAdmin, world: World) -> None:
    olga = as_admin("olga")
    first = olga.verify()
    events = olga.events(kind="release")
    assert events
    assert {event.kind for event in events} == {"release"}
    proof = olga.prove(events[0])
    assert (proof.index, proof.leaf_hash) == (events[0].index, events[0].leaf_hash)
    assert olga.prove(proof.index).hashes == proof.hashes
    as_admin("root").create_user("late", ["analyst"])
    deadline = time.monotonic() + 120
    while olga.prove_continued(first).size == first.size:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (other,) = olga.events(kind="release", since=events[0].at)[:1]
    assert other.leaf_hash == events[0].leaf_hash


def test_an_event_that_the_log_has_otherwise_is_refused(as_admin: AsAdmin) -> None:
    olga = as_admin("olga")
    event = olga.events()[0]
    with pytest.raises(LogRefused):
        olga.prove(replace(event, leaf_hash="00" * 32))
    with pytest.raises(InvalidArgument):
        olga.prove(replace(event, index=None))


def test_lists_render_and_become_frames(as_admin: AsAdmin) -> None:
    root, olga = as_admin("root"), as_admin("olga")
    lists = (
        *(root.users(), root.tiers(), root.tokens("root"), root.datasets(), root.queries()),
        *(root.requests(), root.proposals(), root.allowances("sites"), root.schedules()),
        *(root.streams(), olga.events(), olga.history()),
    )
    for listing in lists:
        assert listing._repr_html_().startswith("<div>")
        frame = listing.to_pandas()
        assert len(frame) >= len(listing)
        assert list(frame.columns) == listing.to_polars().columns
    levels = root.queries().to_pandas().set_index(["query", "tier"])
    assert levels.loc[("visits", "public"), "epsilon"] == pytest.approx(0.1, rel=0.05)


def test_an_analyst_client_is_in_it(as_admin: AsAdmin) -> None:
    assert isinstance(as_admin("ann"), Client)
    assert as_admin("ann").release("visits").tier == "public"
