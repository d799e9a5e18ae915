"""Define what people do for themselves, in the matrix: their own tokens, and their requests."""

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
