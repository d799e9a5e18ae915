"""Define what callers may not see, beside names that nobody has.

For every operation that names something.

In an address or a body NAME stands for either of the two, which have the same length.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.api.routes.requested import APPROVAL, COMMENT, REQUEST, REQUESTS, request_in
from tests.api.sight.matrix import ELEMENTS, LESS_NOISE, NEW_LEVELS, NEW_VERSION, STREAM
from tests.api.sight.scheduled import SCHEDULE, schedule_in
from tests.api.world import DATASET, QUERY, World, propose

CALLERS = (None, "noa", "ann", "ian", "root", "olga")
RELEASE, PREFIX, PROPOSAL, LEAF = "RELEASE", "PREFIX", "PROPOSAL", "LEAF"
REQUESTED = "REQUESTED"
"""In the place of a name: the identifier of what is ian's alone, or of what was proposed."""


class Hidden(NamedTuple):
    """Hold an operation on something that is there, and for whom alone it is."""

    operation: str
    path: str
    name: str
    missing: str
    seen_by: tuple[str, ...]
    body: Any = None


SET_APART = {"levels": {"internal": {"epsilon": 0.5}}}
USERS, TIERS, DATASETS = "/api/v1/users", "/api/v1/tiers", "/api/v1/datasets"
QUERIES, RELEASES, STREAMS = "/api/v1/queries", "/api/v1/releases", "/api/v1/streams"
PROPOSALS, SCHEDULES = "/api/v1/proposals", "/api/v1/schedules"
INCLUSION = "/api/v1/audit/proof/inclusion"
EVENTS, EXPOSURE = "/api/v1/audit/events", "/api/v1/audit/exposure"
ADMIN, AUDITOR, READERS = ("root",), ("olga",), ("ian", "root", "olga")
PLANNERS = ("ian", "root")
BUDGETS = {"budgets": {"internal": {"epsilon": 5}}}
NEW_QUERY = {**QUERY, "name": "new", "dataset": "NAME", **SET_APART}
TRIED = {"query": NEW_QUERY}
NEW_STREAM = {**STREAM, "name": "new", "dataset": "NAME", **SET_APART}
PREVIEWED = {**QUERY, "name": "NAME"}


def of_users(*rows: tuple[str, str, Any]) -> Iterator[Hidden]:
    """Yield operations about somebody who was shut out, whom admins alone see."""
    for operation, path, body in rows:
        yield Hidden(operation, USERS + path, "gone", "zeno", ADMIN, body)


GIVEN = {"epsilon": 0.5}
TAKEN = f"{DATASETS}/NAME/allowances/internal"

HIDDEN = [
    *of_users(
        ("create_user", "", {"name": "NAME", "roles": ["analyst"]}),
        ("import_users", "/import", {"users": [{"name": "NAME", "roles": ["analyst"]}]}),
        ("show_user", "/NAME", None),
        ("change_user", "/NAME", {"clearance": None}),
        ("disable_user", "/NAME", None),
        ("list_tokens", "/NAME/tokens", None),
        ("issue_token", "/NAME/tokens", {}),
    ),
    Hidden("revoke_token", f"{USERS}/ann/tokens/NAME", PREFIX, PREFIX, ()),
    Hidden("revoke_token", f"{USERS}/ian/tokens/NAME", PREFIX, PREFIX, ("ian", "root")),
    Hidden("invite", "/api/v1/invitations", "gone", "zeno", ADMIN,
           {"name": "NAME", "roles": ["analyst"]}),
    Hidden("create_tier", TIERS, "public", "absent", ADMIN, {"name": "NAME"}),
    Hidden("change_tier", f"{TIERS}/NAME", "public", "absent", ADMIN, {"rank": 11}),
    Hidden("delete_tier", f"{TIERS}/NAME", "public", "absent", ADMIN),
    Hidden("register_dataset", DATASETS, "closed", "absent", ADMIN, {**DATASET, "name": "NAME"}),
    Hidden("show_dataset", f"{DATASETS}/NAME", "closed", "absent", READERS),
    Hidden("change_dataset", f"{DATASETS}/NAME", "closed", "absent", ADMIN, BUDGETS),
    Hidden("withdraw_dataset", f"{DATASETS}/NAME", "closed", "absent", ADMIN),
    Hidden("add_version", f"{DATASETS}/NAME/versions", "closed", "absent", ADMIN, NEW_VERSION),
    Hidden("show_budget", f"{DATASETS}/NAME/budget", "closed", "absent", READERS),
    Hidden("show_dummy", f"{DATASETS}/NAME/dummy", "closed", "absent", READERS),
    Hidden("list_queries", f"{QUERIES}?dataset=NAME", "closed", "absent", READERS),
    Hidden("list_allowances", f"{DATASETS}/NAME/allowances", "closed", "absent", READERS),
    Hidden("give_allowance", TAKEN, "closed", "absent", ADMIN, GIVEN),
    Hidden("take_allowance_back", TAKEN, "closed", "absent", ADMIN),
    Hidden("register_query", QUERIES, "closed", "absent", PLANNERS, NEW_QUERY),
    Hidden("preview_query", f"{QUERIES}/preview", "closed", "absent", PLANNERS, NEW_QUERY),
    Hidden("preview_query", f"{QUERIES}/preview", "secret", "absent", PLANNERS, {"query": "NAME"}),
    Hidden("preview_query", f"{QUERIES}/preview", "secret", "absent", PLANNERS, PREVIEWED),
    Hidden("answer_on_dummy", f"{QUERIES}/dummy", "closed", "absent", PLANNERS, TRIED),
    Hidden("show_query", f"{QUERIES}/NAME", "secret", "absent", READERS),
    Hidden("change_query", f"{QUERIES}/NAME", "secret", "absent", ADMIN, NEW_LEVELS),
    Hidden("retire_query", f"{QUERIES}/NAME/retire", "secret", "absent", ADMIN),
    *(
        Hidden("request_release", f"{QUERIES}/NAME/releases", "secret", "absent", ("ian",), body)
        for body in ({}, {"tier": "internal"}, {"tier": "unheard-of"}, {"level": 1e-9})
    ),
    # Of his own history ian sees what he was handed, and that is not this query.
    Hidden("list_releases", f"{RELEASES}?query=NAME", "hidden", "absent", AUDITOR),
    Hidden("list_releases", f"{RELEASES}?user=NAME", "gone", "zeno", AUDITOR),
    Hidden("show_release", f"{RELEASES}/NAME", RELEASE, RELEASE, ("ian", "olga")),
    Hidden("show_values", f"{RELEASES}/NAME/values", RELEASE, RELEASE, ("ian",)),
    Hidden("show_values", f"{RELEASES}/NAME/values?format=csv", RELEASE, RELEASE, ("ian",)),
    Hidden("show_synthetic_rows", f"{RELEASES}/NAME/synthetic", RELEASE, RELEASE, ("ian",)),
    Hidden("list_streams", f"{STREAMS}?dataset=NAME", "closed", "absent", READERS),
    Hidden("open_stream", STREAMS, "closed", "absent", ADMIN, NEW_STREAM),
    Hidden("preview_stream", f"{STREAMS}/preview", "closed", "absent", PLANNERS, NEW_STREAM),
    Hidden(
        *("preview_stream", f"{STREAMS}/preview", "secret", "absent", PLANNERS),
        {**STREAM, "name": "NAME"},
    ),
    Hidden("show_stream", f"{STREAMS}/NAME", "rising", "absent", READERS),
    Hidden("change_stream", f"{STREAMS}/NAME", "rising", "absent", ADMIN, LESS_NOISE),
    Hidden("retire_stream", f"{STREAMS}/NAME/retire", "rising", "absent", ADMIN),
    Hidden("push_elements", f"{STREAMS}/NAME/elements", "rising", "absent", ADMIN, ELEMENTS),
    *(
        Hidden("read_stream", f"{STREAMS}/NAME/releases{more}", "rising", "absent", ("ian",))
        for more in ("", "?tier=internal", "?from=1&to=1", "?from=7")
    ),
    Hidden("create_schedule", SCHEDULES, "nightly", "absent", ADMIN, {**SCHEDULE, "name": "NAME"}),
    Hidden("preview_schedule", f"{SCHEDULES}/preview", "stays", "absent", ADMIN,
           {**SCHEDULE, "dataset": "NAME"}),
    Hidden("show_schedule", f"{SCHEDULES}/NAME", "nightly", "absent", ("root", "olga")),
    Hidden("change_schedule", f"{SCHEDULES}/NAME", "nightly", "absent", ADMIN, {"on": True}),
    Hidden("remove_schedule", f"{SCHEDULES}/NAME", "nightly", "absent", ADMIN),
    Hidden("request_query", REQUESTS, "closed", "absent", ("ian",), {**REQUEST, "dataset": "NAME"}),
    Hidden("request_query", REQUESTS, "hidden", "absent", ("ian",), {**REQUEST, "name": "NAME"}),
    *(
        Hidden(operation, f"{REQUESTS}/NAME{more}", REQUESTED, REQUESTED, seen_by, body)
        for operation, more, seen_by, body in (
            ("show_request", "", PLANNERS, None),
            ("comment_on_request", "/comments", PLANNERS, COMMENT),
            ("decide_request", "/decision", ADMIN, APPROVAL),
            ("withdraw_request", "/withdraw", ("ian",), None),
        )
    ),
    *(
        Hidden(operation, f"{PROPOSALS}/NAME{more}", PROPOSAL, PROPOSAL, seen_by)
        for operation, more, seen_by in (
            ("show_proposal", "", ("root", "olga")),
            ("approve_proposal", "/approval", ADMIN),
            ("withdraw_proposal", "", ADMIN),
        )
    ),
    Hidden("prove_inclusion", f"{INCLUSION}?index=NAME", LEAF, "99", ("ian", "olga")),
    Hidden("prove_inclusion", f"{INCLUSION}?index=NAME", "10", "99", AUDITOR),
    Hidden("export_events", f"{EVENTS}/export?user=NAME", "gone", "zeno", AUDITOR),
    Hidden("export_events", f"{EVENTS}/export?query=NAME", "secret", "absent", AUDITOR),
    Hidden("list_events", f"{EVENTS}?user=NAME", "gone", "zeno", AUDITOR),
    Hidden("list_events", f"{EVENTS}?query=NAME", "secret", "absent", AUDITOR),
    Hidden("report_audit", "/api/v1/audit/report?dataset=NAME", "closed", "absent", AUDITOR),
    Hidden("show_exposure", f"{EXPOSURE}?users=NAME", "gone", "zeno", AUDITOR),
    Hidden("show_exposure", f"{EXPOSURE}?users=ann&dataset=NAME", "closed", "absent", AUDITOR),
    Hidden("show_exposure", f"{EXPOSURE}?users=ian&dataset=NAME", "closed", "absent",
           ("ian", "olga")),
]  # fmt: skip

NAMELESS = {
    *(
        "prove_consistency",
        "map_group",
        "unmap_group",
        "revoke_invitation",
        "list_proposals",
        "list_requests",
        "show_checkpoint",
        "take_cosignature",
    ),
}
"""These take a state, sizes of a tree, whose roots every user with a token may see, groups, or
names that chance made."""


def hide(world: World) -> dict[str, str]:
    """Make what is hidden; what stands for each identifier."""
    closed = {**DATASET, "name": "closed", "budgets": {"internal": {"epsilon": 1}}}
    world.answer("POST", DATASETS, closed, by="root")
    world.answer("POST", QUERIES, {**QUERY, "name": "hidden", **SET_APART}, by="root")
    world.answer("POST", STREAMS, {**STREAM, "name": "rising", **SET_APART}, by="root")
    world.answer("POST", f"{STREAMS}/rising/elements", ELEMENTS, by="root")
    held = world.answer("POST", f"{QUERIES}/secret/releases", {}, by="ian")
    issued = world.answer("POST", f"{USERS}/ian/tokens", {}, by="ian")
    leaf = str(held["receipt"]["index"])
    schedule_in(world)
    return {
        RELEASE: held["id"],
        PREFIX: issued["prefix"],
        PROPOSAL: propose(world),
        REQUESTED: request_in(world),
        LEAF: leaf,
    }
