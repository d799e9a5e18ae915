"""Define what everybody does for themselves, in the matrix: their own tokens."""

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
