"""Provide the auditor's pages in the matrix.

Proofs are everybody's, as in the API, and all else is not.
"""

Fields = tuple[tuple[str, str], ...]
Cells = tuple[str, str, int, int, int, int, int, Fields]


def alone(name: str, path: str, olga: int = 200, fields: Fields = ()) -> Cells:
    """Return a row of a page for auditors alone."""
    return (name, path, 403, 403, 403, 403, olga, fields)


def everybody(name: str, path: str, status: int = 200) -> Cells:
    """Return a row of a page for every user with a session."""
    return (name, path, status, status, status, status, status, ())


AUDITOR_ROWS = [
    alone("mark_seen", "/home/seen", 303, (("size", "3"),)),
    alone("timeline", "/timeline"),
    alone("timeline", "/timeline?kind=made-up", 422),
    alone("coalition", "/exposure"),
    alone("coalition", "/exposure?user=ann&user=ian"),
    alone("coalition", "/exposure?user=ann"),
    alone("coalition", "/exposure?user=ann&dataset=closed"),
    alone("coalition", "/exposure?user=zeno", 404),
    alone("timeline", "/timeline?format=csv"),
    alone("audit_report", "/report"),
    alone("audit_report", "/report?dataset=sites&format=pdf"),
    alone("audit_report", "/report?dataset=sites&from=2126-01-01&format=html", 422),
    alone("audit_report", "/report?dataset=absent&format=html", 404),
    alone("proofs", "/proofs"),
    alone("verification", "/proofs/verification"),
    # EXPORT stands for work of olga's.
    alone("export_log", "/proofs/export", 303, (("once", "11"),)),
    alone("work_file", "/my-work/EXPORT/file"),
    alone("work_file", "/my-work/absent/file", 404),
    everybody("my_work", "/my-work"),
    everybody("piece", "/my-work/absent", 404),
    everybody("sent_form", "/my-work/absent/form", 404),
    everybody("resume_work", "/my-work/absent/again", 404),
    ("piece", "/my-work/EXPORT", 404, 404, 404, 404, 200, ()),
    ("sent_form", "/my-work/EXPORT/form", 404, 404, 404, 404, 404, ()),
    ("resume_work", "/my-work/EXPORT/again", 404, 404, 404, 404, 303, ()),
    ("inclusion_proof", "/proofs/inclusion?index=0", 404, 404, 404, 404, 200, ()),
    ("inclusion_proof", "/proofs/inclusion?index=99999", 404, 404, 404, 404, 422, ()),
    everybody("inclusion_proof", "/proofs/inclusion?index=0&size=99999", 422),
    everybody("consistency_proof", "/proofs/consistency?from=1&to=2"),
    everybody("checkpoint", "/proofs/checkpoint"),
]
