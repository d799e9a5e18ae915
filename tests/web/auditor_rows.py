"""The auditor's pages in the matrix: proofs are everybody's, as in the API, and all else is not."""

Cells = tuple[str, str, int, int, int, int, int]


def alone(name: str, path: str, olga: int = 200) -> Cells:
    """A row of a page for auditors alone."""
    return (name, path, 403, 403, 403, 403, olga)


def everybody(name: str, path: str, status: int = 200) -> Cells:
    """A row of a page for everybody with a session."""
    return (name, path, status, status, status, status, status)


AUDITOR_ROWS = [
    alone("timeline", "/timeline"),
    alone("timeline", "/timeline?kind=made-up", 422),
    alone("coalition", "/exposure"),
    alone("coalition", "/exposure?user=ann&user=ian"),
    alone("coalition", "/exposure?user=ann"),
    alone("coalition", "/exposure?user=ann&dataset=closed"),
    alone("coalition", "/exposure?user=zeno", 404),
    alone("proofs", "/proofs"),
    alone("verification", "/proofs/verification"),
    alone("export_log", "/proofs/export"),
    everybody("inclusion_proof", "/proofs/inclusion?index=0"),
    everybody("inclusion_proof", "/proofs/inclusion?index=0&size=99999", 422),
    everybody("consistency_proof", "/proofs/consistency?from=1&to=2"),
    everybody("checkpoint", "/proofs/checkpoint"),
]
