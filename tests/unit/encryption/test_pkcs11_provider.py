"""Test keys in a hardware module: what can be wrong with it, and that they stay in it."""

from pathlib import Path

import pytest
from tests.softhsm import PIN, Token

from penstock.encryption import Key, Pkcs11
from penstock.errors import KeysUnavailable


def test_no_key_can_be_taken_out_of_the_token(token: Token, context: bytes) -> None:
    import pkcs11
    from pkcs11 import Attribute

    provider = token.provider()
    provider.wrap(Key.fresh(), context)
    found = pkcs11.lib(str(token.module)).get_token(token_label=token.label)
    for key in found.open().get_objects({Attribute.CLASS: pkcs11.ObjectClass.SECRET_KEY}):
        assert key[Attribute.SENSITIVE]
        assert not key[Attribute.EXTRACTABLE]
        with pytest.raises(pkcs11.AttributeSensitive):
            key[Attribute.VALUE]


@pytest.mark.parametrize("change", ["module", "label"])
def test_a_token_that_is_not_there_is_told_with_the_next_step(token: Token, change: str) -> None:
    module = Path("/nowhere.so") if change == "module" else token.module
    label = "another" if change == "label" else token.label
    provider = Pkcs11(module, label, token.pin_file)
    with pytest.raises(KeysUnavailable, match="Check PENSTOCK_PKCS11_MODULE"):
        provider.health()


def test_a_pin_that_others_can_read_is_refused(token: Token, tmp_path: Path) -> None:
    pin = tmp_path / "pin"
    pin.write_text(PIN)
    pin.chmod(0o644)
    with pytest.raises(KeysUnavailable, match="users other than its owner") as caught:
        Pkcs11(token.module, token.label, pin).health()
    assert PIN not in str(caught.value)


# The library's own search complains, as it is collected, that its session is gone.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_session_that_was_closed_is_opened_anew(token: Token, context: bytes) -> None:
    provider = token.provider()
    key = Key.fresh()
    wrapped = provider.wrap(key, context)
    session = provider._session
    assert session is not None
    session.close()
    assert provider.unwrap(wrapped, context).material == key.material
