"""Provide the admin's pages in the matrix.

Only admins see them, but for proposals and schedules to be read.
"""

from typing import Any

MOVE = (("user", "ann"), ("tier", "internal"), ("from", "public"))

RUNNING = (
    ("name", "running"),
    ("dataset", "loans"),
    ("length", "12"),
    ("max_steps_per_unit", "1"),
    ("level public", "0.1"),
)
PUSHED = (
    ("name", "counters"),
    ("source", "vector"),
    ("neighboring", "add_remove"),
    ("delta", "1e-6"),
    ("epsilon public", "1"),
)

TIMED = (
    ("name", "weekly"),
    ("dataset", "loans"),
    ("cron", "0 3 * * 1"),
    ("uri", "loans-{date}.csv"),
    ("epsilon public", "1"),
    ("total public", "5"),
)

SEVERAL = (("csv", "name,roles,clearance\nmax,analyst,public\n"),)
ALLOWED = (("tier", "internal"), ("epsilon", "0.5"), ("users", "ian"))
NOT_BACK = (("once", "28"), ("back", "public"))
BACK = (("once", "29"), ("back", "internal"))
CORRECTED = (("once", "23"), ("max_units", "5000"))
LOWERED = (("wish", "epsilon"), ("level internal", "0.3"))
UNMOVED = (("wish", "epsilon"), ("level internal", "0.5"))


def sure(name: str) -> tuple[tuple[str, str], ...]:
    """Return the name that is typed by hand."""
    return (("sure", name),)


def alone(
    name: str, path: str, root: int, fields: tuple[tuple[str, str], ...] = ()
) -> tuple[Any, ...]:
    """Return a row of a page for admins alone."""
    return (name, path, 403, 403, 403, root, 403, fields)


# PROPOSAL stands for one that the operator made.
ADMIN_ROWS = [
    alone("ladder", "/tiers", 200),
    alone("insert_tier", "/tiers", 303, (("once", "0"), ("name", "partner"), ("above", "public"))),
    alone("insert_tier", "/tiers", 422, (("once", "1"), ("name", ""))),
    alone("insert_tier", "/tiers", 409, (("once", "2"), ("name", "PUBLIC"))),
    alone("tier", "/tiers/partner", 200),
    alone("tier", "/tiers/absent", 404),
    alone("change_tier", "/tiers/partner", 303, (("description", "who helps us"),)),
    alone("change_tier", "/tiers/partner", 422, (("rank", "x"),)),
    alone("delete_tier", "/tiers/public/deletion", 409, sure("public")),
    alone("delete_tier", "/tiers/partner/deletion", 422),
    alone("delete_tier", "/tiers/partner/deletion", 303, sure("partner")),
    alone("preview_clearance", "/clearance?user=ann&tier=internal", 200),
    alone("preview_clearance", "/clearance?user=zeno&tier=internal", 422),
    alone("set_clearance", "/clearance", 303, MOVE),
    alone("set_clearance", "/clearance", 422, (("user", "ann"), ("tier", "x"))),
    alone("people", "/users", 200),
    alone("add_user", "/users", 303, (("once", "6"), ("name", "eve"), ("roles", "analyst"))),
    alone("add_user", "/users", 422, (("once", "3"), ("name", "eve"))),
    alone("new_users", "/new/users", 200),
    alone("preview_new_users", "/new/users/preview", 200, SEVERAL),
    alone("preview_new_users", "/new/users/preview", 422),
    alone("add_users", "/new/users", 422, (("csv", "x"), ("once", "several1"))),
    alone("add_users", "/new/users", 303, (*SEVERAL, ("once", "several2"))),
    alone("all_invitations", "/invitations", 200),
    alone(
        "invite_person",
        "/invitations",
        200,
        (("once", "lea1"), ("name", "lea"), ("roles", "analyst")),
    ),
    alone("invite_person", "/invitations", 422, (("once", "lea2"), ("name", "lea"))),
    alone("revoke_invitation", "/invitations/absent/revocation", 404),
    alone("user", "/users/ann", 200),
    alone("user", "/users/absent", 404),
    alone("change_roles", "/users/ian/roles", 303, (("roles", "analyst"),)),
    alone("change_roles", "/users/ian/roles", 422),
    alone("change_roles", "/users/root/roles", 409, (("roles", "analyst"),)),
    alone("issue_token", "/users/ian/tokens", 200, (("once", "4"),)),
    alone("issue_token", "/users/ian/tokens", 422, (("once", "5"), ("expires_in", "soon"))),
    alone("revoke_token", "/users/ian/tokens/absent/revocation", 404),
    alone("disable_user", "/users/gone/disabling", 422, sure("ann")),
    alone("disable_user", "/users/gone/disabling", 303, sure("gone")),
    alone("disable_user", "/users/root/disabling", 409, sure("root")),
    ("groups", "/groups", 403, 403, 403, 200, 200),
    alone("map_group", "/groups", 422, (("group", "staff"),)),
    alone("map_group", "/groups", 409, (("group", "staff"), ("roles", "analyst"))),
    alone("unmap_group", "/groups/absent/removal", 404),
    alone("dataset_budgets", "/datasets/sites/budgets", 200),
    alone("dataset_budgets", "/datasets/absent/budgets", 404),
    alone("change_budgets", "/datasets/sites/budgets", 303, (("epsilon internal", "5"),)),
    alone("change_budgets", "/datasets/sites/budgets", 409, (("epsilon public", "0.01"),)),
    alone("change_budgets", "/datasets/sites/budgets", 422),
    ("dataset_allowances", "/datasets/loans/allowances", 403, 403, 403, 200, 200),
    ("dataset_allowances", "/datasets/absent/allowances", 403, 403, 403, 404, 404),
    alone("give_allowance", "/datasets/loans/allowances", 422),
    alone("give_allowance", "/datasets/absent/allowances", 404, ALLOWED),
    alone("give_allowance", "/datasets/loans/allowances", 303, ALLOWED),
    alone("give_allowance", "/datasets/loans/allowances", 200, (*ALLOWED, ("look", "1"))),
    alone("take_allowance_back", "/datasets/loans/allowances/taking-back", 422, NOT_BACK),
    alone("take_allowance_back", "/datasets/loans/allowances/taking-back", 303, BACK),
    alone("keys", "/keys", 200),
    alone("restore", "/restore", 200),
    alone("acknowledge_restore", "/restore/acknowledgment", 409),
    ("proposals", "/proposals", 403, 403, 403, 200, 200),
    ("proposals", "/proposals?state=open", 403, 403, 403, 200, 200),
    ("proposals", "/proposals?state=x", 403, 403, 403, 422, 422),
    ("proposal", "/proposals/PROPOSAL", 403, 403, 403, 200, 200),
    ("proposal", "/proposals/absent", 403, 403, 403, 404, 404),
    alone("approve_proposal", "/proposals/absent/approval", 404),
    alone("withdraw_proposal", "/proposals/absent/withdrawal", 404),
    alone("withdraw_proposal", "/proposals/PROPOSAL/withdrawal", 303),
    alone("new_stream", "/new/stream", 200),
    alone("new_stream", "/new/stream?dataset=sites", 200),
    alone("preview_new_stream", "/new/stream/preview", 200, RUNNING),
    alone("preview_new_stream", "/new/stream/preview", 422, (("dataset", "absent"),)),
    alone("open_stream", "/new/stream", 422, (("dataset", "loans"), ("once", "12"))),
    alone("open_stream", "/new/stream", 303, (*RUNNING, ("once", "13"))),
    alone("new_dataset", "/new/dataset", 200),
    alone("new_dataset", "/new/dataset?uri=/etc/passwd", 422),
    alone("fill_columns", "/new/dataset/dictionary", 422, ()),
    alone("fill_columns", "/new/dataset/dictionary", 200, (("dictionary", "a: date"),)),
    alone("register_dataset", "/new/dataset", 422, (("once", "9"),)),
    alone("register_dataset", "/new/dataset", 303, (*PUSHED, ("once", "10"))),
    alone("query_levels", "/queries/visits/levels", 200),
    alone("query_levels", "/queries/absent/levels", 404),
    alone("query_levels", "/queries/visits/levels?wish=epsilon&level+public=0.2", 200),
    alone("query_levels", "/queries/visits/levels?wish=epsilon", 422),
    alone("move_query_levels", "/queries/absent/levels", 404),
    alone("move_query_levels", "/queries/visits/levels", 422),
    alone("move_query_levels", "/queries/visits/levels", 409, LOWERED),
    alone("move_query_levels", "/queries/visits/levels", 303, UNMOVED),
    alone("stream_levels", "/streams/arrivals/levels", 200),
    alone("stream_levels", "/streams/absent/levels", 404),
    alone("move_stream_levels", "/streams/absent/levels", 404),
    alone("move_stream_levels", "/streams/arrivals/levels", 409, LOWERED),
    alone("query_retirement", "/queries/books/retirement", 200),
    alone("query_retirement", "/queries/absent/retirement", 404),
    alone("retire_query", "/queries/absent/retirement", 404, sure("absent")),
    alone("retire_query", "/queries/books/retirement", 422, (("sure", "on"),)),
    alone("retire_query", "/queries/books/retirement", 303, sure("books")),
    alone("stream_retirement", "/streams/rising/retirement", 200),
    alone("stream_retirement", "/streams/absent/retirement", 404),
    alone("retire_stream", "/streams/absent/retirement", 404, sure("absent")),
    alone("retire_stream", "/streams/rising/retirement", 422),
    alone("retire_stream", "/streams/rising/retirement", 303, sure("rising")),
    alone("new_version", "/datasets/loans/versions", 200),
    alone("new_version", "/datasets/sites/versions", 200),
    alone("new_version", "/datasets/absent/versions", 404),
    alone("preview_version", "/datasets/loans/versions/preview", 422),
    alone("preview_version", "/datasets/absent/versions/preview", 404),
    alone("add_version", "/datasets/absent/versions", 404, (("once", "11"),)),
    alone("add_version", "/datasets/loans/versions", 422, (("once", "12"),)),
    ("schedule_list", "/schedules", 403, 403, 403, 200, 200),
    ("schedule_list", "/schedules?dataset=absent", 403, 403, 403, 200, 200),
    ("schedule", "/schedules/daily", 403, 403, 403, 200, 200),
    ("schedule", "/schedules/daily?days=none", 403, 403, 403, 422, 200),
    ("schedule", "/schedules/absent", 403, 403, 403, 404, 404),
    alone("switch_schedule_on", "/schedules/daily/on", 409),
    alone("switch_schedule_on", "/schedules/absent/on", 404),
    alone("switch_schedule_off", "/schedules/daily/off", 303),
    alone("switch_schedule_off", "/schedules/absent/off", 404),
    alone("remove_schedule", "/schedules/absent/removal", 404, sure("absent")),
    alone("remove_schedule", "/schedules/daily/removal", 422),
    alone("remove_schedule", "/schedules/daily/removal", 303, sure("daily")),
    alone("new_schedule", "/new/schedule", 200),
    alone("new_schedule", "/new/schedule?dataset=loans", 200),
    alone("preview_new_schedule", "/new/schedule/preview", 200, TIMED),
    alone("preview_new_schedule", "/new/schedule/preview", 422, (("dataset", "absent"),)),
    alone("make_schedule", "/new/schedule", 422, (("dataset", "loans"), ("once", "26"))),
    alone("make_schedule", "/new/schedule", 303, (*TIMED, ("once", "27"))),
    alone("same_people", "/datasets/loans/same-people", 200),
    alone("same_people", "/datasets/loans/same-people?other=", 422),
    alone("same_people", "/datasets/loans/same-people?other=closed", 409),
    alone("same_people", "/datasets/sites/same-people?other=closed", 200),
    alone("same_people", "/datasets/absent/same-people", 404),
    alone("declare_same_people", "/datasets/absent/same-people", 404, (("once", "23"),)),
    alone("declare_same_people", "/datasets/loans/same-people", 422, (("once", "24"),)),
    alone(
        "declare_same_people",
        "/datasets/sites/same-people",
        303,
        (("once", "25"), ("other", "closed")),
    ),
    alone("declaration", "/datasets/loans/declaration", 200),
    alone("declaration", "/datasets/sites/declaration", 200),
    alone("declaration", "/datasets/absent/declaration", 404),
    alone("correct_dataset", "/datasets/absent/declaration", 404, (("once", "21"),)),
    alone("correct_dataset", "/datasets/loans/declaration", 422, (("once", "22"),)),
    alone("correct_dataset", "/datasets/loans/declaration", 303, CORRECTED),
    alone("withdraw_dataset", "/datasets/absent/withdrawal", 404, sure("absent")),
    alone("withdraw_dataset", "/datasets/loans/withdrawal", 422),
    alone("withdraw_dataset", "/datasets/loans/withdrawal", 409, sure("loans")),
    alone("shredding", "/datasets/closed/shredding", 200),
    alone("shredding", "/datasets/absent/shredding", 404),
    alone("shred_dataset", "/datasets/absent/shredding", 404, sure("absent")),
    alone("shred_dataset", "/datasets/closed/shredding", 422),
    alone("shred_dataset", "/datasets/closed/shredding", 303, sure("closed")),
]
