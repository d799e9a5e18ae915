"""Verify an auditor's report without its server, with the standard library only.

A report in JSON has its facts and a note over them.  A report in HTML or PDF has both in lines of
its own, which readers skip as comments, and a second note over all of its other bytes::

    <!--penstock-report:FACTS.NOTE.NOTE-->        in HTML, each part in base64
    %penstock-report:FACTS.NOTE.NOTE              in PDF, over several lines

So a report whose visible text was changed is refused, though its facts may still be signed.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from penstock_client._log.leaves import decoded
from penstock_client._log.nesting import shallow
from penstock_client._log.notes import Checkpoint, opened, signed_lines

FORMAT = "penstock audit report v1"
LARGEST = 2**28
"""The largest file that is read, in bytes."""

_HTML = re.compile(rb"^<!--penstock-report:([A-Za-z0-9+/=.]*)-->\n", re.MULTILINE)
_PDF = re.compile(rb"^%penstock-report:([A-Za-z0-9+/=.]*)\n", re.MULTILINE)


@dataclass(frozen=True)
class VerifiedReport:
    """Hold the facts that were signed, and the checkpoint in them.

    ``document`` is the SHA-256 of the page that was signed with them, empty for JSON.
    """

    facts: dict[str, Any]
    facts_sha256: str
    document: str
    checkpoint: Checkpoint


def verify(content: bytes, public: bytes) -> VerifiedReport:
    """Return the facts of a report.  Raises ``ValueError`` unless ``public`` signed all of it."""
    if len(content) > LARGEST:
        raise ValueError(f"the file has more than {LARGEST:,} bytes")
    if content.lstrip()[:1] == b"{":
        facts, notes = _of_json(content)
        document = ""
    else:
        facts, notes, document = _of_document(content)
    digest = hashlib.sha256(facts).hexdigest()
    _require(notes[0], public, "report/v1", digest)
    if document:
        try:
            _require(notes[1], public, "report-document/v1", digest, document)
        except ValueError as problem:
            raise ValueError(
                f"the facts in the file are signed, but what it shows is not: {problem}"
            ) from problem
    stated = json.loads(shallow(facts.decode()))
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise ValueError(f"the facts are not in the format {FORMAT!r}, which this command knows")
    checkpoint = opened(_text(stated.get("log"), "checkpoint"), public)
    return VerifiedReport(stated, digest, document, checkpoint)


def _require(note: str, public: bytes, form: str, *digests: str) -> None:
    lines = signed_lines(note, public, "report", f" {form}")
    if lines[1:] != list(digests):
        raise ValueError("its SHA-256 is not the one that was signed; the file was altered")


def _text(parts: object, name: str) -> str:
    text = parts.get(name) if isinstance(parts, dict) else None
    if isinstance(text, str):
        return text
    raise ValueError(f"it has no {name}")


def _of_json(content: bytes) -> tuple[bytes, list[str]]:
    """Return the canonical facts and the note of a report in JSON."""
    answer = json.loads(shallow(content.decode()))
    note = _text(answer, "note")
    canonical = json.dumps(
        answer.get("facts"),
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return canonical.encode(), [note]


def _of_document(content: bytes) -> tuple[bytes, list[str], str]:
    """Return the facts and notes in a document, and the SHA-256 of the rest of it."""
    lines = _PDF if content.startswith(b"%PDF-") else _HTML
    parts = b"".join(lines.findall(content)).decode().split(".")
    if len(parts) != 3:
        raise ValueError("it holds no signed facts; print or save it from the server again")
    facts, *notes = map(decoded, parts)
    document = hashlib.sha256(lines.sub(b"", content)).hexdigest()
    return facts, [note.decode() for note in notes], document
