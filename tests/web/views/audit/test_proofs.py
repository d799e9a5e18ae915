"""Test proofs in words.

What the log stands on, what holds, what does not, and the files to check it.
"""

import json
from collections.abc import Iterator

import pytest
from tests.api.world import World
from tests.web.world import Browser, Open, text_of

from penstock.errors import LogUnavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proof_status, proofs
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.views import InclusionView
from penstock_client.offline import verify as verified_offline


@pytest.fixture
def olga(browse: Open) -> Browser:
    """Return the auditor."""
    return browse("olga")


def test_the_status_is_the_newest_checkpoint_and_what_the_witness_saw(
    olga: Browser, world: World
) -> None:
    checkpoint_view = world.answer("GET", "/api/v1/audit/checkpoint", by="olga")
    page = olga.get("/proofs")
    for part in ("root_hash", "signature", "key"):
        assert checkpoint_view[part] in page.text
    assert "The log is healthy." in text_of(page)
    assert "It matches the newest checkpoint." in text_of(page)


def test_downloads_are_the_bytes_of_the_api_and_verify_without_the_server(
    olga: Browser, world: World
) -> None:
    place = olga.submit("/proofs/export", once="1").location.partition("?")[0]
    export, checkpoint = olga.get(f"{place}/file"), olga.get("/proofs/checkpoint")
    assert export.data == world.call("GET", "/api/v1/audit/export", by="olga").data
    checkpoint_view = world.answer("GET", "/api/v1/audit/checkpoint", by="olga")
    assert json.loads(checkpoint.data) == checkpoint_view
    for answer, name in ((export, "penstock-log.jsonl"), (checkpoint, "penstock-checkpoint.json")):
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["Cache-Control"] == "no-store"
    lines = export.text.splitlines(keepends=True)
    log, more = verified_offline(
        lines, checkpoint_view["note"], bytes.fromhex(checkpoint_view["key"])
    )
    assert (log.size, more) == (checkpoint_view["size"], 0)


def test_every_leaf_is_proven_and_so_is_all_growth(olga: Browser, world: World) -> None:
    size = proofs.checkpoint(world.server).size
    signed = 0
    for index in range(size):
        view = proof_status.inclusion(world.server, OPERATOR, index)
        assert view.holds
        signed += proof_status.inclusion(world.server, OPERATOR, index, index + 1).holds or 0
    for old in range(1, size + 1):
        grown = proof_status.consistency(world.server, old, size)
        assert grown.holds in ((True,) if len(grown.checkpoints) == 2 else (None,))
    assert 0 < signed <= size
    assert "The log only grew." in text_of(olga.get(f"/proofs/consistency?from={size}&to={size}"))


def test_a_size_that_was_never_signed_says_so(
    olga: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.transparency_log.checkpoints.at_size", lambda *_: None)
    assert "No checkpoint was signed" in text_of(olga.get("/proofs/inclusion?index=0"))
    assert "No checkpoint was signed" in text_of(olga.get("/proofs/consistency?from=1&to=2"))


def test_a_proof_that_leads_elsewhere_is_no_proof(
    olga: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = proofs.inclusion

    def altered(*given: object) -> InclusionView:
        view = honest(*given)  # type: ignore[arg-type]  # as it was called
        wrong = "00" * 32
        return InclusionView(view.index, view.size, view.leaf_hash, [wrong, *view.hashes[1:]])

    monkeypatch.setattr(proofs, "inclusion", altered)
    page = text_of(olga.get("/proofs/inclusion?index=0"))
    assert "does not lead to the signed root" in page
    assert "The leaf is in the log" not in page


@pytest.mark.parametrize(
    "path",
    [
        *("inclusion", "inclusion?index=", "inclusion?index=-1", "inclusion?index=x"),
        *("inclusion?index=99999", "inclusion?index=1&size=0", "inclusion?index=1&size=1"),
        *("inclusion?index=" + "9" * 400, "inclusion?index=%D9%A1", "inclusion?index=1e3"),
        *("consistency", "consistency?from=1", "consistency?from=2&to=1"),
        *("consistency?from=0&to=1", "consistency?from=1&to=99999", "consistency?from=a&to=b"),
    ],
)
def test_numbers_that_mean_nothing_are_refused_in_words(olga: Browser, path: str) -> None:
    answer = olga.get(f"/proofs/{path}")
    assert answer.status_code == 422
    assert answer.mimetype == "text/html"


def test_verifying_says_what_fits(olga: Browser, world: World) -> None:
    page = text_of(olga.get("/proofs/verification"))
    assert "No problems found." in page
    assert proofs.checkpoint(world.server).root_hash in page


def test_verifying_says_what_does_not_fit(olga: Browser, world: World) -> None:
    world.server.sequencer.witness.start_over(Sight(1, b"\x01" * 32))
    page = text_of(olga.get("/proofs/verification"))
    assert "1 problem found." in page
    assert "the witness saw 1 leaves, which are not the first 1 of these" in page
    assert "No problems found" not in page


def test_a_log_that_is_too_long_to_wait_for_is_left_to_the_command_line(
    olga: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_status, "MOST_AT_ONCE", 3)
    page = text_of(olga.get("/proofs"))
    assert "Verify now" not in page
    assert "penstock audit verify" in page
    answer = olga.get("/proofs/verification")
    assert answer.status_code == 409
    assert "penstock audit verify" in text_of(answer)


def test_a_suspended_server_says_what_that_means(olga: Browser, world: World) -> None:
    world.server.sequencer.witness.start_over(Sight(9999, b"\x01" * 32))
    page = olga.get("/proofs")
    assert page.status_code == 200
    for words in ("The server is suspended.", "9999 leaves", "still served", "9,999"):
        assert words in text_of(page), words
    assert "The log is healthy" not in text_of(page)
    assert olga.get("/timeline").status_code == 200


def test_a_witness_that_cannot_be_read_is_told(
    olga: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> Iterator[Sight]:
        raise LogUnavailable("The log's witness is missing.")

    monkeypatch.setattr(world.server.sequencer.witness, "seen", lost)
    page = text_of(olga.get("/proofs"))
    assert "The log cannot be written." in page
    assert "The witness cannot be read" in page


def test_a_reader_finds_the_proof_of_what_they_were_given(browse: Open, world: World) -> None:
    browser = browse("ann")
    release = world.answer("GET", "/api/v1/releases", by="ann")["items"][0]
    address = f"/proofs/inclusion?index={release['receipt']['index']}"
    for path in ("/history", f"/releases/{release['id']}"):
        assert f'href="{address}"' in browser.get(path).text
    proof = browser.get(address)
    assert release["receipt"]["leaf_hash"] in proof.text
    assert "The leaf is in the log." in text_of(proof)
