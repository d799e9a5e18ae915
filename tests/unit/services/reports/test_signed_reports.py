"""Test that a report's signature covers its facts and its documents."""

import hashlib

from tests.unit.worlds import World

from penstock.encryption.notes import Note
from penstock.services.reports import signed_reports
from penstock.transparency_log import checkpoints


def test_the_log_key_signs_the_facts_and_the_document(visits: World) -> None:
    visits.ask("pia")
    report = signed_reports.make(visits.server, visits.person("otto"), "sites")
    public = bytes.fromhex(report.key)
    verifier = checkpoints.verifier(public)
    content = signed_reports.content_of(report.facts)
    digest = hashlib.sha256(content).hexdigest()
    assert digest == report.facts_sha256
    document = signed_reports.document_note(visits.server, report, b"a page")
    page = hashlib.sha256(b"a page").hexdigest()
    for text, digests in ((report.note, [digest]), (document, [digest, page])):
        note = Note.read(text)
        assert note.text.split("\n")[1:-1] == digests
        assert verifier.verified(note.text, note.signatures[verifier.name, verifier.id])
        assert not verifier.verified(
            note.text.replace("v1", "v2"), note.signatures[verifier.name, verifier.id]
        )
