"""Show the audit log's checkpoint, witness and proofs, and export its leaves."""

from flask import Response, request

from penstock.errors import InvalidInput
from penstock.http.answers import lines_answer
from penstock.services.access.principals import Principal
from penstock.services.audit import exports, proof_status
from penstock.services.audit import proofs as services
from penstock.services.context import Server
from penstock.services.jobs.runner import JobFunction
from penstock.services.verification.verification import verify
from penstock.web.forms.form_input import Form
from penstock.web.http.page_jobs import JobKind, Typed, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, SIGNED_IN, Pages

pages = Pages()

LONGEST_NUMBER = 15


@pages.get("/proofs", AUDITOR, menu="Proofs")
def proofs(visit: Visit) -> Response:
    """Show the state of the log and the forms that look up proofs."""
    log = proof_status.status(visit.server, visit.principal)
    return visit.page("audit/proofs.html", log=log, form=Form())


@pages.get("/proofs/inclusion", SIGNED_IN)
def inclusion_proof(visit: Visit) -> Response:
    """Show the inclusion proof of a leaf."""
    index = _number("index")
    if index is None:
        raise InvalidInput(
            "index must be the number of a leaf, from 0, for example 12.", pointer="/index"
        )
    view = proof_status.inclusion(visit.server, visit.principal, index, _number("size"))
    return visit.page("audit/inclusion.html", view=view, proof=view.proof)


@pages.get("/proofs/consistency", SIGNED_IN)
def consistency_proof(visit: Visit) -> Response:
    """Show the consistency proof of two sizes of the log."""
    old, new = _number("from"), _number("to")
    if old is None or new is None:
        raise InvalidInput(
            "from and to must be sizes of the log, from 1, for example 5 and 12.", pointer="/from"
        )
    view = proof_status.consistency(visit.server, old, new)
    return visit.page("audit/consistency.html", view=view, proof=view.proof)


@pages.get("/proofs/verification", AUDITOR)
def verification(visit: Visit) -> Response:
    """Verify the log and all stored data, if it is short enough to wait for."""
    proof_status.require_brief(visit.server, visit.principal)
    report = verify(visit.server, visit.principal)
    return visit.page("audit/verification.html", report=report, form=Form())


@pages.post("/proofs/export", AUDITOR)
def export_log(visit: Visit) -> Response:
    """Start the job that writes all leaves to a file."""
    return begun(visit, KIND, request.form)


def _export(server: Server, principal: Principal, _: Typed) -> JobFunction:
    return lambda run: exports.write(server, principal, run.piece, run.attempt, run)


KIND = JobKind("export_log", "Exporting the log", "auditor", _export)


@pages.get("/proofs/checkpoint", SIGNED_IN)
def checkpoint(visit: Visit) -> Response:
    """Send the newest checkpoint as a file."""
    newest = services.checkpoint(visit.server)
    return _file(lines_answer([newest]), "penstock-checkpoint.json")


def _file(answer: Response, name: str) -> Response:
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _number(name: str) -> int | None:
    text = request.args.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise InvalidInput(f"{name} must be a whole number, such as 12.", pointer=f"/{name}")
    return int(text)
