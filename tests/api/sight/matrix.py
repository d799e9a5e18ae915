"""Define who may call which operation, with a request that each would take."""

from typing import Any, NamedTuple

from tests.api.routes.requested import APPROVAL, COMMENT, REQUEST
from tests.api.sight.scheduled import SCHEDULE
from tests.api.world import DATASET, QUERY


class Row(NamedTuple):
    """Hold one operation: how it is called, and the status for each of ``CALLERS``."""

    name: str
    path: str
    body: Any
    noa: int
    ann: int
    ian: int
    root: int
    olga: int


TOKENS = "/api/v1/users/ann/tokens"
INVITATIONS = "/api/v1/invitations"


ASK = "/api/v1/queries/visits/releases"


ALLOWANCE = "/api/v1/datasets/sites/allowances/public"

NEW_QUERY = {**QUERY, "name": "new"}


NAMED = {"query": "visits"}


TRIED = {"query": NEW_QUERY}


HIDDEN = {"query": "secret"}


NEW_DATASET = {**DATASET, "name": "new"}


NEW_VERSION = {"source": {"engine": "duckdb", "uri": "new.csv"}, "budgets": DATASET["budgets"]}


NEW_USER = {"name": "new", "roles": ["analyst"]}


NEW_BUDGETS = {"budgets": {"internal": {"epsilon": 5}}}


NEW_LEVELS = {"levels": {"public": {"epsilon": 0.2}}}


STREAM = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 10,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}},
}


LESS_NOISE = {"levels": {"public": {"epsilon": 0.2}, "internal": {"epsilon": 0.2}}}


ELEMENTS = {"from": 1, "values": [1]}


NOTE = {"note": "log\n1\nAAAA\n\n\u2014 cosigner AAAAAAAA\n"}


PROOF = "/api/v1/audit/proof"


OF_ANN = "/api/v1/audit/exposure?users=ann&dataset=sites"


COUNTED = {
    **REQUEST,
    "name": "others",
    "where": [{"column": "person", "op": "!=", "value": "a"}],
}


PLANNED = {**SCHEDULE, "name": "new"}


# noa has no clearance, ann is cleared for public, ian for internal, root is an admin and
# olga an auditor.  RELEASE and PREFIX stand for ann's release and a token of hers; words in
# capitals after streams/ are streams that are opened first (STREAMS).
MATRIX = [
    #   operation           path                            body           noa  ann  ian root olga
    Row("show_me", "/api/v1/me", None, 200, 200, 200, 200, 200),
    Row("list_users", "/api/v1/users", None, 403, 403, 403, 200, 403),
    Row("create_user", "/api/v1/users", NEW_USER, 403, 403, 403, 201, 403),
    Row("import_users", "/api/v1/users/import", {"users": [NEW_USER]}, 403, 403, 403, 200, 403),
    Row("show_user", "/api/v1/users/ann", None, 403, 403, 403, 200, 403),
    Row("change_user", "/api/v1/users/ann", {"clearance": None}, 403, 403, 403, 200, 403),
    Row("disable_user", "/api/v1/users/ann", None, 403, 403, 403, 200, 403),
    Row("list_tokens", TOKENS, None, 403, 200, 403, 200, 403),
    Row("issue_token", TOKENS, {}, 403, 201, 403, 201, 403),
    Row("revoke_token", TOKENS + "/PREFIX", None, 403, 200, 403, 200, 403),
    Row("list_invitations", INVITATIONS, None, 403, 403, 403, 200, 403),
    Row("invite", INVITATIONS, {**NEW_USER, "name": "lea"}, 403, 403, 403, 201, 403),
    Row("revoke_invitation", f"{INVITATIONS}/absent", None, 403, 403, 403, 404, 403),
    Row("list_tiers", "/api/v1/tiers", None, 200, 200, 200, 200, 200),
    Row("create_tier", "/api/v1/tiers", {"name": "new"}, 403, 403, 403, 201, 403),
    Row("change_tier", "/api/v1/tiers/public", {"rank": 11}, 403, 403, 403, 200, 403),
    Row("delete_tier", "/api/v1/tiers/public", None, 403, 403, 403, 409, 403),
    Row("list_datasets", "/api/v1/datasets", None, 200, 200, 200, 200, 200),
    Row("register_dataset", "/api/v1/datasets", NEW_DATASET, 403, 403, 403, 201, 403),
    Row("show_dataset", "/api/v1/datasets/sites", None, 404, 200, 200, 200, 200),
    # Its vectors are pushed, so that there is no file to have a new version.
    Row("add_version", "/api/v1/datasets/sites/versions", NEW_VERSION, 403, 403, 403, 409, 403),
    # Its vectors are pushed, so that there are no rows to make up.
    Row("show_dummy", "/api/v1/datasets/sites/dummy", None, 404, 422, 422, 422, 422),
    Row("withdraw_dataset", "/api/v1/datasets/sites", None, 403, 403, 403, 409, 403),
    Row("change_dataset", "/api/v1/datasets/sites", NEW_BUDGETS, 403, 403, 403, 200, 403),
    Row("show_budget", "/api/v1/datasets/sites/budget", None, 404, 200, 200, 200, 200),
    Row("list_allowances", "/api/v1/datasets/sites/allowances", None, 404, 200, 200, 200, 200),
    Row("give_allowance", ALLOWANCE, {"epsilon": 0.5}, 403, 403, 403, 200, 403),
    Row("take_allowance_back", ALLOWANCE, None, 403, 403, 403, 404, 403),
    Row("list_queries", "/api/v1/queries", None, 200, 200, 200, 200, 200),
    Row("register_query", "/api/v1/queries", NEW_QUERY, 404, 403, 403, 201, 403),
    Row("preview_query", "/api/v1/queries/preview", NEW_QUERY, 404, 200, 200, 200, 403),
    Row("preview_query", "/api/v1/queries/preview", NAMED, 404, 200, 200, 200, 403),
    Row("preview_query", "/api/v1/queries/preview", HIDDEN, 404, 404, 200, 200, 403),
    # Its values are pushed, so that there are no rows to make up.
    Row("answer_on_dummy", "/api/v1/queries/dummy", TRIED, 404, 422, 422, 422, 403),
    Row("show_query", "/api/v1/queries/visits", None, 404, 200, 200, 200, 200),
    Row("show_query", "/api/v1/queries/secret", None, 404, 404, 200, 200, 200),
    Row("change_query", "/api/v1/queries/visits", NEW_LEVELS, 403, 403, 403, 200, 403),
    Row("retire_query", "/api/v1/queries/visits/retire", None, 403, 403, 403, 200, 403),
    Row("request_release", ASK, {}, 404, 200, 200, 403, 403),
    Row("request_release", ASK, {"tier": "public"}, 404, 200, 200, 403, 403),
    Row("request_release", ASK, {"tier": "internal"}, 404, 403, 200, 403, 403),
    Row("request_release", "/api/v1/queries/secret/releases", {}, 404, 404, 200, 403, 403),
    Row("list_releases", "/api/v1/releases", None, 200, 200, 200, 403, 200),
    Row("list_releases", "/api/v1/releases?user=ann", None, 403, 200, 403, 403, 200),
    Row("list_releases", "/api/v1/releases?query=visits", None, 404, 200, 404, 403, 200),
    Row("show_release", "/api/v1/releases/RELEASE", None, 404, 200, 404, 403, 200),
    Row("show_values", "/api/v1/releases/RELEASE/values", None, 404, 200, 404, 403, 403),
    # A pushed vector is no table of counts.
    Row("show_synthetic_rows", "/api/v1/releases/RELEASE/synthetic", None, 404, 422, 404, 403, 403),
    Row("list_streams", "/api/v1/streams", None, 200, 200, 200, 200, 200),
    Row("open_stream", "/api/v1/streams", STREAM, 403, 403, 403, 201, 403),
    Row("preview_stream", "/api/v1/streams/preview", STREAM, 404, 200, 200, 200, 403),
    Row("show_stream", "/api/v1/streams/STREAM", None, 404, 200, 200, 200, 200),
    Row("show_stream", "/api/v1/streams/HIDDEN", None, 404, 404, 200, 200, 200),
    Row("change_stream", "/api/v1/streams/STREAM", LESS_NOISE, 403, 403, 403, 200, 403),
    Row("retire_stream", "/api/v1/streams/STREAM/retire", None, 403, 403, 403, 200, 403),
    Row("push_elements", "/api/v1/streams/STREAM/elements", ELEMENTS, 403, 403, 403, 200, 403),
    Row("read_stream", "/api/v1/streams/READ/releases", None, 404, 200, 200, 403, 403),
    Row("read_stream", "/api/v1/streams/READ/releases?tier=public", None, 404, 200, 200, 403, 403),
    Row(
        *("read_stream", "/api/v1/streams/BOTH/releases?tier=internal", None),
        *(404, 403, 200, 403, 403),
    ),
    Row("list_schedules", "/api/v1/schedules", None, 403, 403, 403, 200, 200),
    Row("create_schedule", "/api/v1/schedules", PLANNED, 403, 403, 403, 201, 403),
    Row("preview_schedule", "/api/v1/schedules/preview", PLANNED, 403, 403, 403, 200, 403),
    Row("show_schedule", "/api/v1/schedules/nightly", None, 403, 403, 403, 200, 200),
    Row("change_schedule", "/api/v1/schedules/nightly", {"on": True}, 403, 403, 403, 200, 403),
    Row("remove_schedule", "/api/v1/schedules/nightly", None, 403, 403, 403, 200, 403),
    Row("list_requests", "/api/v1/requests", None, 200, 200, 200, 200, 403),
    Row("request_query", "/api/v1/requests", COUNTED, 404, 404, 201, 403, 403),
    Row("show_request", "/api/v1/requests/REQUEST", None, 404, 404, 200, 200, 403),
    Row(
        *("comment_on_request", "/api/v1/requests/REQUEST/comments", COMMENT),
        *(404, 404, 201, 201, 403),
    ),
    Row("decide_request", "/api/v1/requests/REQUEST/decision", APPROVAL, 403, 403, 403, 200, 403),
    Row("withdraw_request", "/api/v1/requests/REQUEST/withdraw", None, 404, 404, 200, 403, 403),
    Row("list_group_mappings", "/api/v1/group-mappings", None, 403, 403, 403, 200, 200),
    Row("map_group", "/api/v1/group-mappings", {"group": "staff"}, 403, 403, 403, 409, 403),
    Row("unmap_group", "/api/v1/group-mappings/absent", None, 403, 403, 403, 404, 403),
    Row("list_proposals", "/api/v1/proposals", None, 403, 403, 403, 200, 200),
    Row("show_proposal", "/api/v1/proposals/PROPOSAL", None, 403, 403, 403, 200, 200),
    Row("approve_proposal", "/api/v1/proposals/PROPOSAL/approval", None, 403, 403, 403, 200, 403),
    Row("withdraw_proposal", "/api/v1/proposals/PROPOSAL", None, 403, 403, 403, 200, 403),
    Row("list_events", "/api/v1/audit/events", None, 403, 403, 403, 403, 200),
    Row("export_events", "/api/v1/audit/events/export", None, 403, 403, 403, 403, 200),
    Row("show_checkpoint", "/api/v1/audit/checkpoint", None, 200, 200, 200, 200, 200),
    # Nobody is named as a cosigner: what is sent is looked at, and refused.
    Row("take_cosignature", "/api/v1/audit/cosignatures", NOTE, 403, 403, 403, 403, 422),
    Row("prove_inclusion", f"{PROOF}/inclusion?index=0", None, 404, 404, 404, 404, 200),
    Row("prove_inclusion", f"{PROOF}/inclusion?index=100000", None, 404, 404, 404, 404, 422),
    Row("prove_consistency", f"{PROOF}/consistency?from=1&to=2", None, 200, 200, 200, 200, 200),
    Row("report_audit", "/api/v1/audit/report?dataset=sites", None, 403, 403, 403, 403, 200),
    Row("export_log", "/api/v1/audit/export", None, 403, 403, 403, 403, 200),
    Row("show_exposure", OF_ANN, None, 403, 200, 403, 403, 200),
]
