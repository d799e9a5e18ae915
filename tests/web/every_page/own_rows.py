"""Define what people do for themselves, in the matrix: their own tokens, their requests, and
questions that they compose in the form in which admins build queries.
"""

Cells = tuple[str, str, int, int, int, int, int, tuple[tuple[str, str], ...]]


def everybody(name: str, path: str, status: int, **fields: str) -> Cells:
    """Return a row of a page or form for every user with a session."""
    return (name, path, status, status, status, status, status, tuple(fields.items()))


OWN_ROWS = [
    everybody("own_tokens", "/tokens", 200),
    everybody("issue_own_token", "/tokens", 200, once="15", expires_in="1d"),
    everybody("issue_own_token", "/tokens", 422, once="16", expires_in="soon"),
    everybody("revoke_own_token", "/tokens/absent/revocation", 404),
]

DECIDED = (("comment", "For the report."),)

# REQUEST stands for a request of ian's, always the same one.
REQUEST_ROWS: list[Cells] = [
    ("query_requests", "/requests", 200, 200, 200, 200, 403, ()),
    ("query_requests", "/requests?state=all", 200, 200, 200, 200, 403, ()),
    ("query_requests", "/requests?state=x", 422, 422, 422, 422, 403, ()),
    ("query_request", "/requests/REQUEST", 404, 404, 200, 200, 403, ()),
    ("query_request", "/requests/absent", 404, 404, 404, 404, 403, ()),
    ("preview_decision", "/requests/REQUEST/preview", 403, 403, 403, 200, 403, ()),
    ("preview_decision", "/requests/absent/preview", 403, 403, 403, 404, 403, ()),
    ("comment_on_request", "/requests/REQUEST/comments", 404, 404, 422, 422, 403, ()),
    ("comment_on_request", "/requests/REQUEST/comments", 404, 404, 303, 303, 403, DECIDED),
    ("withdraw_request", "/requests/absent/withdrawal", 404, 404, 404, 403, 403, ()),
    ("withdraw_request", "/requests/REQUEST/withdrawal", 404, 404, 303, 403, 403, ()),
    ("approve_request", "/requests/absent/approval", 403, 403, 403, 404, 403, ()),
    ("approve_request", "/requests/REQUEST/approval", 403, 403, 403, 303, 403, (("once", "31"),)),
    ("decline_request", "/requests/absent/refusal", 403, 403, 403, 404, 403, ()),
]

KINDS = ("statistic", "counts", "sparse", "sql", "absent")
COUNTED = (
    ("name", "lent"),
    ("dataset", "loans"),
    ("mechanism", "gaussian"),
    ("level public", "0.1"),
    ("max_groups", "1"),
    ("max_rows", "3"),
)
AT_INTERNAL = (
    *(*COUNTED[:3], ("level internal", "0.01"), *COUNTED[4:]),
    *(("where 0", "book"), ("value 0", "3")),
)
TYPED = (
    ("kind", "vector"),
    ("name", "typed"),
    ("dataset", "sites"),
    ("keys", "a\nb"),
    ("l1", "1"),
    ("level public", "0.05"),
)
PREVIEW, FORM, SEND = "/new/query/preview", "/new/query", "/new/query/request"
NO_DATASET = (("dataset", "absent"),)
PURPOSE = (("purpose", "The yearly report"),)


def planned(path: str) -> Cells:
    """Return a row of the form itself."""
    return ("new_query", path, 200, 200, 200, 200, 403, ())


# Analysts give the level of their own tier alone: ann of public, and ian of internal.
COMPOSED_ROWS: list[Cells] = [
    planned(FORM),
    planned(f"{FORM}?dataset=loans"),
    *(planned(f"{FORM}?kind={kind}&dataset=loans") for kind in KINDS),
    planned(f"{FORM}?kind=vector&dataset=sites"),
    ("preview_query", PREVIEW, 404, 200, 422, 200, 403, COUNTED),
    ("preview_query", PREVIEW, 404, 404, 404, 422, 403, NO_DATASET),
    ("preview_query", PREVIEW, 422, 422, 422, 422, 403, ()),
    ("preview_query", PREVIEW, 404, 403, 403, 200, 403, TYPED),
    ("preview_query", PREVIEW, 200, 200, 200, 200, 403, (*TYPED, ("more", "where"))),
    ("preview_query", PREVIEW, 403, 403, 403, 303, 403, (*COUNTED, ("compare", "1"))),
    ("request_query", SEND, 404, 422, 422, 403, 403, (*COUNTED, ("once", "32"))),
    ("request_query", SEND, 404, 303, 422, 403, 403, (*COUNTED, *PURPOSE, ("once", "33"))),
    ("request_query", SEND, 404, 422, 303, 403, 403, (*AT_INTERNAL, *PURPOSE, ("once", "34"))),
    ("register_query", FORM, 404, 422, 422, 422, 403, (("dataset", "loans"), ("once", "7"))),
    ("register_query", FORM, 404, 403, 422, 303, 403, (*COUNTED, ("once", "8"))),
    ("register_query", FORM, 404, 403, 403, 422, 403, (*TYPED, ("once", "11"))),
]
