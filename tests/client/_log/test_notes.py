"""Test signed notes: no other text, key or spelling is accepted."""

import base64

import pytest
from tests.client.servers.hosts import Host

from penstock_client._log.ed25519 import verified
from penstock_client._log.notes import ED25519, key_of, key_tag, opened, vkey_of


def test_no_byte_of_a_note_may_be_another(host: Host) -> None:
    note, public = host.note(6), host.key.public_key().public_bytes_raw()
    assert opened(note, public).size == 6
    for place in range(0, len(note), 7):
        broken = note[:place] + ("A" if note[place] != "A" else "B") + note[place + 1 :]
        with pytest.raises(ValueError, match=r"."):
            opened(broken, public)


def test_the_form_of_notes_is_that_of_others() -> None:
    """Use the example of Go's sumdb/note: the id of a key, and the signed part of a note."""
    text = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
    )
    key = base64.b64decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    signed = base64.b64decode(
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXg"
        "KvqfqdngotpRZb6KE6RyyBwJnAM="
    )
    assert key[:1] == ED25519
    assert signed[:4].hex() == "c74f20a3"
    assert signed[:4] == key_tag("PeterNeumann", key[1:])
    assert verified(key[1:], text.encode(), signed[4:])


def test_a_key_is_read_as_it_is_written(host: Host) -> None:
    vkey = vkey_of(host.public)
    assert key_of(vkey) == key_of(host.public.hex()) == host.public
    other = vkey_of(bytes(32))
    mixed = "+".join([*vkey.split("+")[:2], other.split("+")[2]])
    for wrong in (mixed, vkey[:-4], host.public.hex()[2:], "", "zz" * 32):
        with pytest.raises(ValueError, match=r"."):
            key_of(wrong)
