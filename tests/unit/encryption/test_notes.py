"""Test signed notes and cosignatures, held to published examples and to a reader of their own."""

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.notes import by_the_letter

from penstock.encryption import notes
from penstock.encryption.notes import COSIGNATURE, ED25519, Note, Verifier

PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqf"
    "qdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The example of the Go project's package golang.org/x/mod/sumdb/note."""

SUMDB = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
"""The key of the Go project's checksum database."""

COSIGNED = (
    "example.com/behind-the-sofa\n"
    "20852163\n"
    "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    "\n"
    "\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5"
    "/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJ"
    "sX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
"""The example of C2SP tlog-cosignature."""


def test_a_published_note_is_verified_and_no_other() -> None:
    peter, note = Verifier.read(PETER, ED25519), Note.read(PETERS)
    [(whom, signature)] = note.signatures.items()
    assert whom == (peter.name, peter.id)
    assert peter.verified(note.text, signature)
    assert by_the_letter(PETER, PETERS) is None
    assert not peter.verified(note.text + "x\n", signature)
    assert not peter.verified(note.text, signature[:-1])
    assert not peter.verified(note.text, signature[:-1] + bytes([signature[-1] ^ 1]))
    assert peter.text == PETER
    assert Verifier.read(SUMDB, ED25519).text == SUMDB


def test_a_published_cosignature_is_read() -> None:
    """Its key was not published: what is held to it is where its parts stand."""
    note = Note.read(COSIGNED)
    [signature] = [one for (name, _), one in note.signatures.items() if name.startswith("witness")]
    assert (len(signature), notes.cosigned_at(signature)) == (72, 1679315147)
    said = notes.cosigned(note.text, 1679315147)
    assert (
        said
        == b"cosignature/v1\ntime 1679315147\n" + COSIGNED.encode().partition(b"\n\n")[0] + b"\n"
    )
    assert "".join(notes.line(*whom, one) for whom, one in note.signatures.items()) in COSIGNED


def test_a_cosignature_is_of_a_time_and_a_kind() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    cosigner = Verifier("auditor.example/a", COSIGNATURE, key.public_key().public_bytes_raw())
    text, at = "log\n1\nAAAA\n", 1_790_000_000
    signature = at.to_bytes(8, "big") + key.sign(notes.cosigned(text, at))
    assert cosigner.verified(text, signature)
    note = f"{text}\n{notes.line(cosigner.name, cosigner.id, signature)}"
    assert by_the_letter(cosigner.text, note) == at
    assert not cosigner.verified(text, (at + 1).to_bytes(8, "big") + signature[8:])
    assert not cosigner.verified(text, at.to_bytes(8, "big") + key.sign(text.encode()))
    plain = Verifier(cosigner.name, ED25519, cosigner.public)
    assert plain.id != cosigner.id
    assert not plain.verified(text, signature[8:])
    with pytest.raises(InvalidSignature):
        by_the_letter(cosigner.text, note.replace("log\n1", "log\n2"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "PeterNeumann",
            PETER.replace("c74f20a3", "c74f20a4"),
            PETER.replace("Peter", "Pater"),
        ),
        *(PETER.replace("PeterNeumann", "Peter Neumann"), PETER[:-4], PETER + "=", PETER + "\n"),
        PETER.replace("c74f20a3", "C74F20A3"),
    ],
)
def test_no_other_key_is_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"^it"):
        Verifier.read(text, ED25519)
    with pytest.raises(ValueError, match="kind 4"):
        Verifier.read(PETER, COSIGNATURE)


@pytest.mark.parametrize(
    "note",
    [
        *("", "text\n", "text\n\n", PETERS[:-1], PETERS.replace("\n\n", "\n"), PETERS + "\n"),
        *(PETERS + "more\n", PETERS.replace("\n", "\r\n"), PETERS.replace("\u2014", "-")),
        *(PETERS.replace("PeterNeumann x", "Peter+Neumann x"), PETERS.replace("nAM=", "nAN=")),
        PETERS.replace("PeterNeumann x08go", "PeterNeumann  x08go"),
        "x" * notes.LARGEST + PETERS,
    ],
)
def test_no_other_note_is_read(note: str) -> None:
    with pytest.raises(ValueError, match=r"^(it|a line)"):
        Note.read(note)
