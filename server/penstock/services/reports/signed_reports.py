"""Sign the facts of a report with the log's key, and what is written around them.

The signature is over text, as that of a checkpoint, and names what was signed by its SHA-256::

    penstock/0123456789abcdef report/v1
    HEX                                   of the facts, as canonical JSON in UTF-8

A document has a second note, over its own bytes without the lines that hold its signatures::

    penstock/0123456789abcdef report-document/v1
    HEX                                   of the facts
    HEX                                   of the document
"""

import hashlib
import math
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from penstock.encryption import notes
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.reports import report_facts
from penstock.services.reports.report_facts import ReportFactsView
from penstock.transparency_log import leaves
from penstock.transparency_log.checkpoints import Signer


@dataclass(frozen=True)
class AuditReportView:
    """Hold a report: its facts, their SHA-256, and the note by which the log's key signed it."""

    facts: ReportFactsView
    facts_sha256: str
    note: str
    key: str


def make(
    server: Server,
    principal: Principal,
    dataset: str,
    start: datetime | None = None,
    end: datetime | None = None,
) -> AuditReportView:
    """Return the signed report about a dataset and a period.

    Raises ``Forbidden``, ``NotFound``, ``InvalidInput`` for a period that is not past, and
    ``KeysUnavailable``.
    """
    principal.require("auditor")
    when = report_facts.period(server, start, end)
    facts = report_facts.facts(server, principal, dataset, when)
    with server.database.read() as session:
        signer = Signer.load(session, server.provider)
    digest = hashlib.sha256(content_of(facts)).hexdigest()
    note = _note(signer, "report/v1", digest)
    return AuditReportView(facts, digest, note, signer.key.public.hex())


def content_of(facts: ReportFactsView) -> bytes:
    """Return the facts as they are signed: canonical JSON in UTF-8."""
    return leaves.canonical(_finite(asdict(facts)))


def document_note(server: Server, report: AuditReportView, document: bytes) -> str:
    """Return the note that signs a document together with the facts.  Raises as ``make``."""
    with server.database.read() as session:
        signer = Signer.load(session, server.provider)
    digest = hashlib.sha256(document).hexdigest()
    return _note(signer, "report-document/v1", report.facts_sha256, digest)


def _note(signer: Signer, form: str, *digests: str) -> str:
    name, tag = signer.names
    text = "".join(f"{line}\n" for line in (f"{name} {form}", *digests))
    return f"{text}\n{notes.line(name, tag, signer.key.sign(text.encode()))}"


def _finite(value: Any) -> Any:
    """Return a JSON value with null for numbers that JSON does not have, as in every answer."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
